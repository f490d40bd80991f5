/* Launches a kernel with barriers across the grid, with as many blocks as fit the device and `more` (the argument, 0).
 * The barrier's counter lies in the grid's workspace, whose address the kernel reads as cooperative_groups does: high
 * half in %envreg1, low half in %envreg2. Every block writes to its neighbour's cell before a barrier and reads its own
 * after it. Prints the number of blocks and whether all saw what they should; ends with the launch's result. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry rounds(.param .u64 cells, .param .u64 sums) {\n"
    "  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [cells];\n  ld.param.u64 %d2, [sums];\n"
    "  mov.u32 %r1, %envreg1;\n  mov.u32 %r2, %envreg2;\n  mov.b64 %d3, {%r2, %r1};\n"
    "  setp.eq.u64 %p1, %d3, 0;\n  @%p1 trap;\n"
    "  ld.global.u32 %r3, [%d3];\n  setp.lt.u32 %p1, %r3, 8;\n  @%p1 trap;\n" /* its size */
    "  mov.u32 %r4, %tid.x;\n  mov.u32 %r5, %ctaid.x;\n  mov.u32 %r6, %nctaid.x;\n"
    "  add.u32 %r7, %r5, 1;\n  rem.u32 %r7, %r7, %r6;\n"
    "  mad.wide.u32 %d4, %r7, 4, %d1;\n  mad.wide.u32 %d5, %r5, 4, %d1;\n  mad.wide.u32 %d6, %r5, 4, %d2;\n"
    "  mov.u32 %r8, 0;\n  mov.u32 %r9, 0;\n  mov.u32 %r10, 0;\n" /* round, goal, sum */
    "NEXT:\n"
    "  add.u32 %r8, %r8, 1;\n  setp.ne.u32 %p2, %r4, 0;\n  @!%p2 st.volatile.global.u32 [%d4], %r8;\n"
    "  add.u32 %r9, %r9, %r6;\n  membar.gl;\n  bar.sync 0;\n  @%p2 bra ARRIVED;\n"
    "  atom.global.add.u32 %r11, [%d3+4], 1;\n"
    "WAIT:\n  ld.volatile.global.u32 %r11, [%d3+4];\n  setp.lt.u32 %p3, %r11, %r9;\n  @%p3 bra WAIT;\n"
    "ARRIVED:\n  bar.sync 0;\n  ld.volatile.global.u32 %r12, [%d5];\n  add.u32 %r10, %r10, %r12;\n"
    /* no block writes the next round before all have read this one */
    "  add.u32 %r9, %r9, %r6;\n  bar.sync 0;\n  @%p2 bra READ;\n  atom.global.add.u32 %r11, [%d3+4], 1;\n"
    "LOOK:\n  ld.volatile.global.u32 %r11, [%d3+4];\n  setp.lt.u32 %p3, %r11, %r9;\n  @%p3 bra LOOK;\n"
    "READ:\n  bar.sync 0;\n  setp.lt.u32 %p3, %r8, 3;\n  @%p3 bra NEXT;\n"
    "  @!%p2 st.global.u32 [%d6], %r10;\n  ret;\n}\n";

static void must(CUresult result) {
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "result %d\n", result);
    exit((int)result > 255 ? 255 : (int)result);
}

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction rounds;
    CUdeviceptr cells, sums;
    int n_sms, per_sm, bad = 0;
    enum { THREADS = 64, ROUNDS_SUM = 1 + 2 + 3 };
    must(cuInit(0));
    must(cuCtxCreate(&context, NULL, 0, 0));
    must(cuModuleLoadData(&module, ptx));
    must(cuModuleGetFunction(&rounds, module, "rounds"));
    must(cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    must(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rounds, THREADS, 0));
    unsigned blocks = (unsigned)(n_sms * per_sm + (argc > 1 ? atoi(argv[1]) : 0)), *sum = calloc(blocks, 4);
    must(cuMemAlloc(&cells, 4 * blocks));
    must(cuMemAlloc(&sums, 4 * blocks));
    void *parameters[] = {&cells, &sums};
    for (int launch = 0; launch < 2; launch++) /* the workspace is as new for the second */
        must(cuLaunchCooperativeKernel(rounds, blocks, 1, 1, THREADS, 1, 1, 0, NULL, parameters));
    must(cuMemcpyDtoH(sum, sums, 4 * blocks));
    for (unsigned i = 0; i < blocks; i++)
        bad |= sum[i] != ROUNDS_SUM;
    free(sum);
    printf("%u blocks: %s\n", blocks, bad ? "wrong" : "right");
    return bad;
}
