/* Allocations with a shape, and attributes of pointers. */
#include "cudart/internal.h"

#include <string.h>

enum { ELEMENT_BYTES = 16 }; /* the widest access: lines are aligned for it */

/* 0 bytes allocate nothing, without an error. */
cudaError_t cudaMalloc(void **memory, size_t bytes) {
    CUdeviceptr address = 0;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS && !memory)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && bytes)
        result = cuMemAlloc(&address, bytes);
    if (result == CUDA_SUCCESS)
        *memory = (void *)(uintptr_t)address;
    return cudart_end(result);
}

static CUresult allocate_lines(void **memory, size_t *pitch, size_t width, size_t height) {
    CUdeviceptr address = 0;
    *pitch = 0;
    CUresult result = width && height ? cuMemAllocPitch(&address, pitch, width, height, ELEMENT_BYTES) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        *memory = (void *)(uintptr_t)address;
    return result;
}

cudaError_t cudaMallocPitch(void **memory, size_t *pitch, size_t width, size_t height) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = memory && pitch ? allocate_lines(memory, pitch, width, height) : CUDA_ERROR_INVALID_VALUE;
    return cudart_end(result);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *memory, struct cudaExtent extent) {
    size_t lines;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS && (!memory || __builtin_mul_overflow(extent.height, extent.depth, &lines)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = allocate_lines(&memory->ptr, &memory->pitch, extent.width, lines);
    if (result == CUDA_SUCCESS) {
        memory->xsize = extent.width;
        memory->ysize = extent.height;
    }
    return cudart_end(result);
}

/* ---- Pointers ---------------------------------------------------------------------------------------------------- */

static void describe(struct cudaPointerAttributes *attributes, CUdeviceptr address) {
    enum { NO_DEVICE = -2 };
    unsigned type = 0;
    int is_managed = 0;
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = NO_DEVICE};
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) {
        attributes->hostPointer = (void *)(uintptr_t)address; /* ordinary memory of the program */
        return;
    }
    cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    cuPointerGetAttribute(&attributes->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
    cuPointerGetAttribute(&attributes->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, address);
    attributes->device = 0;
    attributes->type = is_managed                   ? cudaMemoryTypeManaged
                       : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                    : cudaMemoryTypeDevice;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS && !attributes)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    struct cudaPointerAttributes all;
    describe(&all, (uintptr_t)memory);
    memcpy(attributes, &all, cudart_major < 13 ? offsetof(struct cudaPointerAttributes, reserved) : sizeof(all));
    return cudaSuccess;
}

/* ---- Locations of managed memory
 * ---------------------------------------------------------------------------------- */

static cudaError_t prefetch(const void *memory, size_t bytes, cudaMemLocation location, unsigned flags,
                            cudaStream_t stream) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuMemPrefetchAsync((uintptr_t)memory, bytes, location, flags, stream);
    return cudart_end(result);
}

static cudaError_t advise(const void *memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuMemAdvise((uintptr_t)memory, bytes, (CUmem_advise)advice, location);
    return cudart_end(result);
}

/* Up to version 12 a location was the number of a device, -1 for the host. */
static cudaMemLocation location_of(int device) {
    return (cudaMemLocation){device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
                             device < 0 ? 0 : device};
}

/* A location and a flag use the registers that held the device and the stream up to version 12. */
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
    if (cudart_major >= 13)
        return prefetch(memory, bytes, location, flags, stream);
    return prefetch(memory, bytes, location_of((int)location.type), 0, NULL);
}
CUDART_PTSZ(cudaMemPrefetchAsync,
            (const void *memory, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream),
            (memory, bytes, location, flags, stream))

cudaError_t cudaMemPrefetchAsync_v2(const void *memory, size_t bytes, cudaMemLocation location, unsigned flags,
                                    cudaStream_t stream);

cudaError_t cudaMemPrefetchAsync_v2(const void *memory, size_t bytes, cudaMemLocation location, unsigned flags,
                                    cudaStream_t stream) {
    return prefetch(memory, bytes, location, flags, stream);
}
CUDART_PTSZ(cudaMemPrefetchAsync_v2,
            (const void *memory, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream),
            (memory, bytes, location, flags, stream))

cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    return advise(memory, bytes, advice, cudart_major >= 13 ? location : location_of((int)location.type));
}

cudaError_t cudaMemAdvise_v2(const void *memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location);

cudaError_t cudaMemAdvise_v2(const void *memory, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    return advise(memory, bytes, advice, location);
}
