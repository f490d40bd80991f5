/* streams BLOCKS KERNELS [captured]: the same kernel in several streams, which no order relates, or in the branches of
 * a graph that was captured from them. Prints the microseconds of one kernel and of all, and those that pass on the
 * global timer in one kernel and between the events around it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum { THREADS = 256, SPIN_CYCLES = 20000, MOST = 64 };

/* Waits for some cycles. Thread 0 writes the global timer before and after. */
static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry spin(.param .u64 cycles, .param .u64 out) {\n"
    "  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<10>;\n"
    "  ld.param.u64 %d1, [cycles]; ld.param.u64 %d2, [out];\n"
    "  mov.u64 %d3, %globaltimer; mov.u64 %d4, %clock64;\n"
    "LOOP: mov.u64 %d5, %clock64; sub.u64 %d6, %d5, %d4; setp.lt.u64 %p, %d6, %d1; @%p bra LOOP;\n"
    "  mov.u64 %d7, %globaltimer;\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; or.b32 %r1, %r1, %r2; setp.ne.u32 %p, %r1, 0; @%p bra DONE;\n"
    "  st.global.u64 [%d2], %d3; st.global.u64 [%d2+8], %d7;\n"
    "DONE: ret;\n}\n";

static CUfunction kernel;
static CUdeviceptr out;

static void check(CUresult result) {
    if (result != CUDA_SUCCESS)
        exit(9);
}

static CUevent new_event(void) {
    CUevent event;
    check(cuEventCreate(&event, 0));
    return event;
}

/* Launches the kernel in n streams, after the work of another, which then waits for them. */
static void launch(CUstream first, CUstream *stream, unsigned n, unsigned blocks) {
    uint64_t cycles = SPIN_CYCLES;
    void *parameters[] = {&cycles, &out};
    CUevent fork = new_event();
    check(cuEventRecord(fork, first));
    for (unsigned i = 0; i < n; i++) {
        check(cuStreamWaitEvent(stream[i], fork, 0));
        check(cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, stream[i], parameters, NULL));
        CUevent done = new_event();
        check(cuEventRecord(done, stream[i]));
        check(cuStreamWaitEvent(first, done, 0));
    }
}

/* Runs the kernel in n streams between two events of a stream. Returns the microseconds between them. */
static double run(CUstream first, CUstream *stream, unsigned n, unsigned blocks, int is_captured) {
    CUevent begin = new_event(), end = new_event();
    CUgraph graph;
    CUgraphExec executable;
    float ms;
    if (is_captured) {
        check(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
        launch(first, stream, n, blocks);
        check(cuStreamEndCapture(first, &graph));
        check(cuGraphInstantiate(&executable, graph, 0));
    }
    check(cuEventRecord(begin, first));
    if (is_captured)
        check(cuGraphLaunch(executable, first));
    else
        launch(first, stream, n, blocks);
    check(cuEventRecord(end, first));
    check(cuStreamSynchronize(first));
    check(cuEventElapsedTime(&ms, begin, end));
    return ms * 1e3;
}

int main(int count, char **argument) {
    CUcontext context;
    CUmodule module;
    CUstream first, stream[MOST];
    uint64_t before[2], after[2];
    unsigned blocks = count > 1 ? (unsigned)strtoul(argument[1], NULL, 10) : 1;
    unsigned n = count > 2 ? (unsigned)strtoul(argument[2], NULL, 10) : 2;
    check(cuInit(0));
    check(cuCtxCreate(&context, NULL, 0, 0));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&kernel, module, "spin"));
    check(cuMemAlloc(&out, sizeof before));
    check(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < n && i < MOST; i++)
        check(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
    int is_captured = count > 3 && strcmp(argument[3], "captured") == 0;
    double one = run(first, stream, 1, blocks, 0);
    check(cuMemcpyDtoH(before, out, sizeof before));
    double all = run(first, stream, n, blocks, is_captured);
    check(cuMemcpyDtoH(after, out, sizeof after));
    printf("one %.2f\nall %.2f\nkernel %.2f\nbetween %.2f\n", one, all, (double)(before[1] - before[0]) * 1e-3,
           (double)(after[0] - before[0]) * 1e-3);
    return 0;
}
