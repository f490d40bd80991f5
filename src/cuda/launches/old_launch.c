/* The launch interface from before CUDA 4.0: the program sets shape, shared memory and parameters on the function, then
 * launches it. Deprecated, but still exported by every driver. */
#include "cuda/internal.h"

#include <string.h>

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUfunc_st, found, cuda_find_function(&call, function));
    if (x <= 0 || y <= 0 || z <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(found->next.shape.block, (uint32_t[]){(uint32_t)x, (uint32_t)y, (uint32_t)z},
           sizeof(found->next.shape.block));
    return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUfunc_st, found, cuda_find_function(&call, function));
    found->next.shape.dynamic_shared_bytes = bytes;
    return CUDA_SUCCESS;
}

/* The kernel itself knows the size. A smaller one would leave parameters without a value. */
CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
    return bytes < gpu_kernel_function(found->kernel)->parameter_bytes ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult set_parameter(CUfunction function, int offset, const void *value, size_t bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUfunc_st, found, cuda_find_function(&call, function));
    uint64_t size = gpu_kernel_function(found->kernel)->parameter_bytes;
    if (!value || offset < 0 || bytes > size || (uint64_t)offset > size - bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!found->next.parameters)
        found->next.parameters = cuda_allocate(size);
    memcpy((unsigned char *)found->next.parameters + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
    return set_parameter(function, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
    return set_parameter(function, offset, &value, sizeof(value));
}

CUresult cuParamSetv(CUfunction function, int offset, void *value, unsigned bytes) {
    return set_parameter(function, offset, value, bytes);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    struct gpu_launch set;
    size_t bytes;
    {
        CUDA_ENTER(call, cuda_enter_context());
        CUDA_FIND(const struct CUfunc_st, found, cuda_find_function(&call, function));
        set = found->next;
        bytes = gpu_kernel_function(found->kernel)->parameter_bytes;
    }
    const uint32_t *block = set.shape.block;
    if (width <= 0 || height <= 0 || !block[0] || (bytes && !set.parameters))
        return CUDA_ERROR_INVALID_VALUE;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, set.parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, block[0], block[1], block[2],
                          set.shape.dynamic_shared_bytes, stream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    return cuLaunchGridAsync(function, width, height, NULL);
}

CUresult cuLaunch(CUfunction function) { return cuLaunchGridAsync(function, 1, 1, NULL); }
