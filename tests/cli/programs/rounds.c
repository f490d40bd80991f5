/* Twelve launches of a kernel that adds up in managed memory. The host reads it after each launch, prints a number, and
 * the number decides the size of the next launch. With an argument the host adds that number too. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry gather(.param .u64 p, .param .u32 n) {\n"
    "  .reg .b32 %r<12>; .reg .b64 %d<6>; .reg .pred %q;\n"
    "  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "again:\n"
    "  mad.lo.u32 %r5, %r5, 1664525, 1013904223; shr.u32 %r6, %r5, 16;\n"
    "  mul.wide.u32 %d2, %r6, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r7, [%d2];\n"
    "  add.u32 %r8, %r8, %r7; red.global.add.u32 [%d2], 1;\n"
    "  sub.u32 %r1, %r1, 1; setp.ne.u32 %q, %r1, 0; @%q bra again;\n"
    "  red.global.add.u32 [%d1], %r8; ret;\n}\n";

int main(int argc, char **argv) {
    enum { N_WORDS = 1 << 16, N_ROUNDS = 12 };
    CUcontext context;
    CUmodule module;
    CUfunction gather;
    CUdeviceptr memory;
    unsigned n = 8;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
        cuMemAllocManaged(&memory, N_WORDS * sizeof(unsigned), CU_MEM_ATTACH_GLOBAL) ||
        cuModuleGetFunction(&gather, module, "gather"))
        return 9;
    volatile unsigned *word = (volatile unsigned *)(size_t)memory;
    for (unsigned i = 0; i < N_ROUNDS; i++) {
        void *parameters[] = {&memory, &n};
        word[i] += argc > 1 ? (unsigned)atoi(argv[1]) : 0;
        if (cuLaunchKernel(gather, 8 + word[0] % 16, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL) || cuCtxSynchronize())
            return 8;
        printf("round %u: %u\n", i, word[0]);
    }
    return 0;
}
