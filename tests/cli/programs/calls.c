/* calls KERNEL BLOCKS LANES TIMES: prints the microseconds of a kernel, `print` or `allocate`, whose blocks have one
 * warp. Every LANES'th part of the warp calls printf, or malloc and then free, TIMES times. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);\n"
    ".extern .func (.param .b64 memory) malloc(.param .b64 bytes);\n"
    ".extern .func free(.param .b64 memory);\n"
    ".global .align 1 .b8 text[6] = {116, 101, 120, 116, 10, 0};\n"
    ".visible .entry print(.param .u32 lanes, .param .u32 times) {\n"
    "  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  ld.param.u32 %r1, [lanes]; ld.param.u32 %r2, [times]; mov.u32 %r3, %tid.x;\n"
    "  setp.ge.u32 %p, %r3, %r1; @%p bra DONE;\n"
    "  mov.u64 %d1, text; cvta.global.u64 %d1, %d1; mov.u64 %d2, 0;\n"
    "LOOP: {\n"
    "  .param .b64 format; .param .b64 values; .param .b32 result;\n"
    "  st.param.b64 [format], %d1; st.param.b64 [values], %d2;\n"
    "  call.uni (result), vprintf, (format, values); ld.param.b32 %r4, [result];\n  }\n"
    "  sub.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra LOOP;\n"
    "DONE: ret;\n}\n"
    ".visible .entry allocate(.param .u32 lanes, .param .u32 times) {\n"
    "  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  ld.param.u32 %r1, [lanes]; ld.param.u32 %r2, [times]; mov.u32 %r3, %tid.x;\n"
    "  setp.ge.u32 %p, %r3, %r1; @%p bra DONE;\n"
    "LOOP: mov.u64 %d1, 64;\n  {\n"
    "  .param .b64 bytes; .param .b64 memory;\n"
    "  st.param.b64 [bytes], %d1; call.uni (memory), malloc, (bytes); ld.param.b64 %d2, [memory];\n  }\n"
    "  {\n  .param .b64 memory; st.param.b64 [memory], %d2; call.uni free, (memory);\n  }\n"
    "  sub.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra LOOP;\n"
    "DONE: ret;\n}\n";

static void check(CUresult result) {
    if (result != CUDA_SUCCESS)
        exit(9);
}

int main(int count, char **argument) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUevent begin, end;
    float ms;
    if (count != 5)
        return 9;
    unsigned blocks = (unsigned)strtoul(argument[2], NULL, 10), lanes = (unsigned)strtoul(argument[3], NULL, 10);
    unsigned times = (unsigned)strtoul(argument[4], NULL, 10);
    void *parameters[] = {&lanes, &times};
    check(cuInit(0));
    check(cuCtxCreate(&context, NULL, 0, 0));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&kernel, module, argument[1]));
    check(cuEventCreate(&begin, 0));
    check(cuEventCreate(&end, 0));
    check(cuEventRecord(begin, NULL));
    check(cuLaunchKernel(kernel, blocks, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    check(cuEventRecord(end, NULL));
    check(cuCtxSynchronize());
    check(cuEventElapsedTime(&ms, begin, end));
    fprintf(stderr, "us %.2f\n", (double)ms * 1e3);
    return 0;
}
