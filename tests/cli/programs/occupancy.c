/* Blocks of a small kernel that an SM holds. Each argument is THREADS[:BYTES of shared memory]; prints a line for each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    int most;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
        cuModuleGetFunction(&kernel, module, "k") ||
        cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0) ||
        cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most))
        return 9;
    for (int i = 1; i < argc; i++) {
        char *end;
        int threads = (int)strtol(argv[i], &end, 10), blocks;
        size_t shared = *end == ':' ? strtoul(end + 1, NULL, 10) : 0;
        if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared))
            return 8;
        printf("%s %d\n", argv[i], blocks);
    }
    return 0;
}
