/* Loads PTX that is wrong, as the first argument says: `checked`, the program looks at the error and loads another
 * module; `ignored`, it uses the module that was not loaded; `lacking`, the PTX is right and needs an instruction that
 * Heddle lacks; `later`, a version of PTX that Heddle does not know. Always ends with 0. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
static const char right[] = HEAD ".visible .entry k(.param .u64 p) {\n.reg .b64 %d<2>;\nld.param.u64 %d1, [p];\n"
                                 "st.global.u32 [%d1], 7;\nret;\n}\n";
static const char wrong[] = HEAD ".visible .entry k() {\nfrobnicate.u32;\nret;\n}\n";
static const char lacking[] = HEAD ".visible .entry k() {\ntcgen05.fence::before_thread_sync;\nret;\n}\n";
static const char later[] = ".version 12.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\nret;\n}\n";

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUdeviceptr word;
    unsigned value = 0;
    const char *how = argc > 1 ? argv[1] : "checked";
    const char *text = strcmp(how, "lacking") == 0 ? lacking : strcmp(how, "later") == 0 ? later : wrong;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&word, 4))
        return 9;
    void *parameters[] = {&word};
    int refused = (int)cuModuleLoadData(&module, text);
    if (strcmp(how, "ignored") != 0 && cuModuleLoadData(&module, right))
        return 9;
    cuModuleGetFunction(&kernel, module, "k");
    cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    cuMemcpyDtoH(&value, word, 4);
    printf("refused with %d, then %u\n", refused, value);
    return 0;
}
