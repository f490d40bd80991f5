/* Helpers for the test runners over the CUDA driver API. */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

const char *driver_error_name(CUresult result) {
    const char *name = NULL;
    return cuGetErrorName(result, &name) == CUDA_SUCCESS && name ? name : "unknown error";
}

void driver_require(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, driver_error_name(result));
    exit(1);
}

void driver_start(void) {
    CUdevice device;
    CUcontext context;
    DRIVER_REQUIRE(cuInit(0));
    DRIVER_REQUIRE(cuDeviceGet(&device, 0));
    DRIVER_REQUIRE(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER_REQUIRE(cuCtxSetCurrent(context));
}

CUresult driver_load(const char *ptx, CUmodule *module, char *log) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)DRIVER_LOG};
    log[0] = 0;
    CUresult result = cuModuleLoadDataEx(module, ptx, 2, options, values);
    log[DRIVER_LOG - 1] = 0;
    return result;
}
