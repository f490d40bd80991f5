/* A kernel that reads a word `argument` bytes from the start of a buffer of 64 bytes. Exit status 0 whatever happens,
 * and the result of the launch on standard output. A second argument makes it launch twice. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p, .param .u64 q) {\n.reg .b64 %d<4>; .reg .b32 %r<4>;\n"
                          "ld.param.u64 %d1, [p];\nld.param.u64 %d2, [q];\n"
                          "ld.global.u32 %r1, [%d1];\nst.global.u32 [%d2], %r1;\nret;\n}\n";

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr buffer, result;
    unsigned value = 77;
    if (argc < 2 || cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
        cuModuleGetFunction(&kernel, module, "k") || cuMemAlloc(&buffer, 64) || cuMemAlloc(&result, 4) ||
        cuMemsetD32(buffer, 5, 16))
        return 9;
    CUdeviceptr place = buffer + (CUdeviceptr)strtoll(argv[1], NULL, 10);
    void *parameters[] = {&place, &result};
    for (int i = 1; i < argc; i++)
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    int status = (int)cuCtxSynchronize();
    cuMemcpyDtoH(&value, result, 4);
    printf("result %d, value %u\n", status, value);
    return 0;
}
