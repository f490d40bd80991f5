/* Prints what the device says about itself, and the largest block of the kernel whose occupancy is best. */
#include <stdio.h>

#include "cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";

static int attribute(CUdevice_attribute attribute) {
    int value = -1;
    cuDeviceGetAttribute(&value, attribute, 0);
    return value;
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    char name[256];
    int major, minor, grid, threads;
    size_t persisting = 0;
    if (cuInit(0) || cuDeviceGetName(name, sizeof(name), 0) || cuDeviceComputeCapability(&major, &minor, 0) ||
        cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
        cuModuleGetFunction(&kernel, module, "k") ||
        cuOccupancyMaxPotentialBlockSize(&grid, &threads, kernel, NULL, 0, 0))
        return 9;
    CUresult set = cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
                                 (size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE));
    cuCtxGetLimit(&persisting, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
    printf("%s, capability %d.%d, %d SMs, %d kHz, memory %d kHz x %d bits\n", name, major, minor,
           attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
           attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE), attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
    printf("l2 %d, persisting %d, set %d to %zu, window %d\n", attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE), (int)set, persisting,
           attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE));
    printf("sm: %d threads, %d blocks, %d registers, shared %d, block %d, reserved %d, fp64 1/%d\n",
           attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
           attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
           attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
           attribute(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO));
    printf("best block: %d threads, %d blocks\n", threads, grid);
    return 0;
}
