/* host_memory BYTES BLOCKS: kernels that read and write host memory, and the time that they take. Prints the bandwidth
 * of reads and of writes in GB/s, the cycles from one load of a chain to the next, and whether the values are right. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

enum { THREADS = 256, STEPS = 64, STEP_WORDS = 1024 };

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    /* Adds up all words, 16 bytes at a time, into the first word of `out`. */
    ".visible .entry read_all(.param .u64 data, .param .u64 n, .param .u64 out) {\n"
    "  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [n]; ld.param.u64 %d3, [out];\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"
    "  mad.wide.u32 %d4, %r1, %r2, 0; cvt.u64.u32 %d5, %r3; add.u64 %d4, %d4, %d5; mul.wide.u32 %d6, %r4, %r2;\n"
    "  mov.u32 %r5, 0;\n"
    "LOOP: setp.ge.u64 %p, %d4, %d2; @%p bra DONE;\n"
    "  shl.b64 %d7, %d4, 4; add.u64 %d7, %d1, %d7; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d7];\n"
    "  add.u32 %r6, %r6, %r7; add.u32 %r8, %r8, %r9; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r8;\n"
    "  add.u64 %d4, %d4, %d6; bra LOOP;\n"
    "DONE: red.global.add.u32 [%d3], %r5; ret;\n}\n"
    /* Writes 1 into every word. */
    ".visible .entry write_all(.param .u64 data, .param .u64 n, .param .u64 out) {\n"
    "  .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [n];\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n"
    "  mad.wide.u32 %d4, %r1, %r2, 0; cvt.u64.u32 %d5, %r3; add.u64 %d4, %d4, %d5; mul.wide.u32 %d6, %r4, %r2;\n"
    "  mov.u32 %r5, 1;\n"
    "LOOP: setp.ge.u64 %p, %d4, %d2; @%p bra DONE;\n"
    "  shl.b64 %d7, %d4, 4; add.u64 %d7, %d1, %d7; st.global.v4.u32 [%d7], {%r5, %r5, %r5, %r5};\n"
    "  add.u64 %d4, %d4, %d6; bra LOOP;\n"
    "DONE: ret;\n}\n"
    /* Follows a chain of n words. The cycles go to the first two words of `out`. */
    ".visible .entry chase(.param .u64 data, .param .u64 n, .param .u64 out) {\n"
    "  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<10>;\n"
    "  ld.param.u64 %d1, [data]; ld.param.u64 %d2, [n]; ld.param.u64 %d3, [out];\n"
    "  mov.u32 %r1, 0; mov.u64 %d4, %clock64;\n"
    "LOOP: mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d1, %d5; ld.volatile.global.u32 %r1, [%d5];\n"
    "  sub.u64 %d2, %d2, 1; setp.ne.u64 %p, %d2, 0; @%p bra LOOP;\n"
    "  cvt.u64.u32 %d7, %r1; mov.u64 %d6, %clock64; sub.u64 %d6, %d6, %d4; add.u64 %d6, %d6, %d7;\n"
    "  st.global.u64 [%d3], %d6; ret;\n}\n";

static CUmodule module;
static CUevent begin, end;

static void check(CUresult result) {
    if (result != CUDA_SUCCESS)
        exit(9);
}

static float run(const char *name, CUdeviceptr data, uint64_t n, CUdeviceptr out, unsigned blocks, unsigned threads) {
    void *parameters[] = {&data, &n, &out};
    CUfunction kernel;
    float ms;
    check(cuModuleGetFunction(&kernel, module, name));
    check(cuEventRecord(begin, NULL));
    check(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, parameters, NULL));
    check(cuEventRecord(end, NULL));
    check(cuCtxSynchronize());
    check(cuEventElapsedTime(&ms, begin, end));
    return ms;
}

int main(int count, char **argument) {
    CUcontext context;
    CUdeviceptr data, out;
    uint32_t *host, sum = 0;
    uint64_t cycles;
    if (count != 3)
        return 9;
    size_t bytes = strtoul(argument[1], NULL, 10), words = bytes / sizeof *host;
    unsigned blocks = (unsigned)strtoul(argument[2], NULL, 10);
    check(cuInit(0));
    check(cuCtxCreate(&context, NULL, 0, 0));
    check(cuModuleLoadData(&module, ptx));
    check(cuEventCreate(&begin, 0));
    check(cuEventCreate(&end, 0));
    check(cuMemHostAlloc((void **)&host, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
    check(cuMemHostGetDevicePointer(&data, host, 0));
    check(cuMemAlloc(&out, 8));
    check(cuMemsetD32(out, 0, 2));
    float write_ms = run("write_all", data, bytes / 16, out, blocks, THREADS);
    float read_ms = run("read_all", data, bytes / 16, out, blocks, THREADS);
    check(cuMemcpyDtoH(&sum, out, sizeof sum));
    size_t steps = words / STEP_WORDS < STEPS ? words / STEP_WORDS : STEPS;
    for (size_t i = 0; i < steps; i++)
        host[i * STEP_WORDS] = (uint32_t)((i + 1) % steps * STEP_WORDS);
    run("chase", data, steps, out, 1, 1);
    check(cuMemcpyDtoH(&cycles, out, sizeof cycles));
    printf("read %.2f\nwrite %.2f\nchase %.1f\n%s\n", (double)bytes / read_ms * 1e-6, (double)bytes / write_ms * 1e-6,
           (double)cycles / (double)steps, sum == words ? "right" : "wrong");
    return 0;
}
