/* polls: waits for a word of host memory that a kernel writes, first for 6 seconds without a call, then with calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry set(.param .u64 flag) {\n"
                          "  .reg .b32 %r<2>; .reg .b64 %d<2>;\n"
                          "  ld.param.u64 %d1, [flag]; mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1; ret;\n}\n";

static void check(CUresult result) {
    if (result != CUDA_SUCCESS)
        exit(9);
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction set;
    CUstream stream[2];
    CUdeviceptr address;
    void *host;
    check(cuInit(0));
    check(cuCtxCreate(&context, NULL, 0, 0));
    check(cuModuleLoadData(&module, ptx));
    check(cuModuleGetFunction(&set, module, "set"));
    check(cuMemHostAlloc(&host, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP));
    check(cuMemHostGetDevicePointer(&address, host, 0));
    check(cuStreamCreate(&stream[0], CU_STREAM_NON_BLOCKING));
    check(cuStreamCreate(&stream[1], CU_STREAM_NON_BLOCKING));
    volatile uint32_t *flag = host;
    *flag = 0;
    void *parameters[] = {&address};
    check(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, stream[0], parameters, NULL));
    for (time_t end = time(NULL) + 6; !*flag && time(NULL) < end;)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    puts(*flag ? "seen without a call" : "not seen without a call");
    while (!*flag)
        check(cuStreamQuery(stream[0]));
    puts("seen");
    return 0;
}
