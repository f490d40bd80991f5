/* beside: kernels of three streams that run at the same time. Each stream copies its numbers to the device, changes
 * them by branches, adds them up in shared memory and copies the sums back, twice. One stream has a high priority, and
 * one waits for an event of another. The first stream's kernels have 12 blocks, the second one's 11, the third
 * one's 10. Ends with 1 if a sum is wrong. beside unwritten: a kernel adds to memory that nothing has written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum { THREADS = 128, BLOCKS = 12, N = THREADS * BLOCKS, STREAMS = 3, ROUNDS = 2 };

/* branches: odd numbers become 3 n + 1 and even ones n / 2, until they are 1 or 40 steps are over: counts the steps.
 * sums: the sum of each block's numbers. */
static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry branches(.param .u64 data) {\n"
    "  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 128, %r1;\n"
    "  mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r3, [%d1]; mov.u32 %r4, 0;\n"
    "STEP: setp.le.u32 %p1, %r3, 1; @%p1 bra DONE; setp.ge.u32 %p1, %r4, 40; @%p1 bra DONE;\n"
    "  add.u32 %r4, %r4, 1; and.b32 %r5, %r3, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra ODD;\n"
    "  shr.u32 %r3, %r3, 1; bra STEP;\n"
    "ODD: mad.lo.u32 %r3, %r3, 3, 1; bra STEP;\n"
    "DONE: st.global.u32 [%d1], %r4; ret;\n}\n"
    ".visible .entry sums(.param .u64 data, .param .u64 sums) {\n"
    "  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<6>; .shared .align 4 .b8 part[512];\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d3, [sums]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "  mad.lo.u32 %r3, %r2, 128, %r1; mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2;\n"
    "  ld.global.u32 %r4, [%d1]; mov.u32 %r5, part; mad.lo.u32 %r5, %r1, 4, %r5; st.shared.u32 [%r5], %r4;\n"
    "  mov.u32 %r6, 64;\n"
    "HALF: bar.sync 0; setp.ge.u32 %p, %r1, %r6; @%p bra NEXT;\n"
    "  mad.lo.u32 %r7, %r6, 4, %r5; ld.shared.u32 %r8, [%r7]; add.u32 %r4, %r4, %r8; st.shared.u32 [%r5], %r4;\n"
    "NEXT: shr.u32 %r6, %r6, 1; setp.ne.u32 %p, %r6, 0; @%p bra HALF;\n"
    "  setp.ne.u32 %p, %r1, 0; @%p bra END; mul.wide.u32 %d4, %r2, 4; add.u64 %d3, %d3, %d4;\n"
    "  atom.global.add.u32 %r8, [%d3], %r4;\n"
    "END: ret;\n}\n";

static void check(CUresult result) {
    if (result != CUDA_SUCCESS)
        exit(9);
}

static uint32_t steps_of(uint32_t n) {
    uint32_t steps = 0;
    for (; n > 1 && steps < 40; steps++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    return steps;
}

/* A stream and its memory. */
struct work {
    CUstream stream;
    CUdeviceptr data, sums;
    uint32_t *number, *sum; /* pinned */
    CUevent done;
};

static void make(struct work *work, unsigned k) {
    check(cuStreamCreateWithPriority(&work->stream, CU_STREAM_NON_BLOCKING, k == 2 ? -3 : 0));
    check(cuMemAlloc(&work->data, N * sizeof(uint32_t)));
    check(cuMemAlloc(&work->sums, BLOCKS * sizeof(uint32_t)));
    check(cuMemHostAlloc((void **)&work->number, N * sizeof(uint32_t), 0));
    check(cuMemHostAlloc((void **)&work->sum, BLOCKS * sizeof(uint32_t), 0));
    check(cuEventCreate(&work->done, CU_EVENT_DISABLE_TIMING));
}

static int is_right(const struct work *work, unsigned n_blocks) {
    for (unsigned block = 0; block < n_blocks; block++) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < THREADS; i++)
            sum += steps_of(work->number[block * THREADS + i]);
        if (sum != work->sum[block])
            return 0;
    }
    return 1;
}

int main(int count, char **argument) {
    int has_unwritten = count > 1 && strcmp(argument[1], "unwritten") == 0;
    CUcontext context;
    CUmodule module;
    CUfunction branches, sums;
    struct work work[STREAMS];
    check(cuInit(0));
    check(cuCtxCreate(&context, NULL, 0, 0));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&branches, module, "branches"));
    check(cuModuleGetFunction(&sums, module, "sums"));
    for (unsigned k = 0; k < STREAMS; k++)
        make(&work[k], k);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned k = 0; k < STREAMS; k++) {
            struct work *w = &work[k];
            void *parameters[] = {&w->data, &w->sums};
            for (unsigned i = 0; i < N; i++)
                w->number[i] = i * 7919 % 1021 + k + round;
            check(cuMemcpyHtoDAsync(w->data, w->number, N * sizeof(uint32_t), w->stream));
            if (!has_unwritten || k != 1 || round)
                check(cuMemsetD32Async(w->sums, 0, BLOCKS, w->stream));
            check(cuLaunchKernel(branches, BLOCKS - k, 1, 1, THREADS, 1, 1, 0, w->stream, parameters, NULL));
            if (k == 1) /* after the branches and sums of the first stream */
                check(cuStreamWaitEvent(w->stream, work[0].done, 0));
            check(cuLaunchKernel(sums, BLOCKS - k, 1, 1, THREADS, 1, 1, 0, w->stream, parameters, NULL));
            check(cuEventRecord(w->done, w->stream));
            check(cuMemcpyDtoHAsync(w->sum, w->sums, BLOCKS * sizeof(uint32_t), w->stream));
        }
        check(cuCtxSynchronize());
        for (unsigned k = 0; k < STREAMS; k++)
            if (!is_right(&work[k], BLOCKS - k))
                return 1;
    }
    puts("right");
    return 0;
}
