/* Kernels: queries, attributes, and the number of their blocks that fit on an SM. */
#include "cudart/internal.h"

#include <string.h>

/* Starts a call and finds its kernel, or returns the error. */
static cudaError_t find(const void *function, CUfunction *kernel) {
    CUresult result = cudart_start();
    return result != CUDA_SUCCESS ? (cudaError_t)result : cudart_find_kernel(function, kernel);
}

static int attribute_of(CUfunction kernel, CUfunction_attribute attribute) {
    int value = 0;
    cuFuncGetAttribute(&value, attribute, kernel);
    return value;
}

static void describe(CUfunction kernel, struct cudaFuncAttributes *attributes) {
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)attribute_of(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .constSizeBytes = (size_t)attribute_of(kernel, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .localSizeBytes = (size_t)attribute_of(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .maxThreadsPerBlock = attribute_of(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = attribute_of(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptxVersion = attribute_of(kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binaryVersion = attribute_of(kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .cacheModeCA = attribute_of(kernel, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA),
        .maxDynamicSharedSizeBytes = attribute_of(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .preferredShmemCarveout = attribute_of(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
    };
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    CUfunction kernel;
    cudaError_t error = attributes ? find(function, &kernel) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return cudart_note(error);
    struct cudaFuncAttributes all;
    describe(kernel, &all);
    size_t bytes = cudart_major < 12 ? offsetof(struct cudaFuncAttributes, clusterDimMustBeSet) : sizeof(all);
    memcpy(attributes, &all, bytes);
    return cudaSuccess;
}

/* Rows of kernel.def: the driver's function gets `kernel`. */
#define CUDART_KERNEL_CALL(name, parameters, call)                                                                     \
    cudaError_t name parameters {                                                                                      \
        CUfunction kernel;                                                                                             \
        cudaError_t error = find(function, &kernel);                                                                   \
        return cudart_note(error != cudaSuccess ? error : (cudaError_t)(call));                                        \
    }
#include "cudart/kernel.def"
#undef CUDART_KERNEL_CALL

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *found, const void *function) {
    return cudart_note(found ? find(function, found) : cudaErrorInvalidValue);
}

/* The driver accepts a kernel in place of its function. */
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    CUfunction found;
    cudaError_t error = kernel ? find(function, &found) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *kernel = (cudaKernel_t)(void *)found;
    return cudart_note(error);
}
