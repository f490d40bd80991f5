/* Kernels, launches and refusals for our versions of closed libraries. */
#include "library/library.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* They exist only in Heddle's libcuda.so.1. */
void cuHeddleReportError(int result, const char *message);
int cuHeddleHasMatrixUnits(void);

CUresult library_start(void) {
    CUcontext context;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuCtxGetCurrent(&context);
    if (result != CUDA_SUCCESS || context)
        return result;
    CUdevice device;
    result = cuDeviceGet(&device, 0);
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&context, device);
    return result != CUDA_SUCCESS ? result : cuCtxSetCurrent(context);
}

static CUresult find(struct library_module *module, const char *name, CUkernel *kernel) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    if (!module->loaded)
        result = cuLibraryLoadData(&module->loaded, module->ptx, NULL, NULL, 0, NULL, NULL, 0);
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetKernel(kernel, module->loaded, name);
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult library_launch(struct library_module *module, const char *name, const unsigned grid[3], unsigned threads,
                        CUstream stream, const void *parameters) {
    CUkernel kernel;
    void *arguments[] = {(void *)(size_t)parameters};
    CUresult result = library_start();
    if (result == CUDA_SUCCESS)
        result = find(module, name, &kernel);
    if (result == CUDA_SUCCESS)
        result = cuLaunchKernel((CUfunction)(void *)kernel, grid[0], grid[1], grid[2], threads, 1, 1, 0, stream,
                                arguments, NULL);
    return result;
}

bool library_has_matrix_units(void) { return cuHeddleHasMatrixUnits(); }

static void report(const char *message) {
    fprintf(stderr, "heddle: %s\n", message);
    cuHeddleReportError(CUDA_ERROR_NOT_SUPPORTED, message);
}

void library_refuse(const char *name, atomic_bool *is_told) {
    char message[256];
    if (atomic_exchange(is_told, true))
        return;
    snprintf(message, sizeof(message), "the program called %s, which is not supported", name);
    report(message);
}

void library_refuse_case(const char *name, const char *format, ...) {
    char message[512];
    int length = snprintf(message, sizeof(message), "%s: ", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message + length, sizeof(message) - (size_t)length, format, arguments);
    va_end(arguments);
    report(message);
}
