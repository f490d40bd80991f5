/* Copies in one, two and three dimensions, between host, device and arrays.
 *
 * The kind says which side is the device. Host memory may be anything that the program can access. With
 * cudaMemcpyDefault the driver decides by the address. */
#include "cudart/internal.h"

/* ---- One dimension ----------------------------------------------------------------------------------------------- */

static CUresult copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return cuMemcpyHtoDAsync((uintptr_t)to, from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return cuMemcpyDtoHAsync(to, (uintptr_t)from, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return cuMemcpyDtoDAsync((uintptr_t)to, (uintptr_t)from, bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, stream);
    }
    return (CUresult)cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUresult result = cudart_start();
    return cudart_end(result == CUDA_SUCCESS ? copy_bytes(to, from, bytes, kind, stream) : result);
}
CUDART_PTSZ(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
            (to, from, bytes, kind, stream))

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy_ptds, cudaMemcpy);

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    if (to_device != 0 || from_device != 0)
        return cudart_note(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
CUDART_PTSZ(cudaMemcpyPeerAsync,
            (void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream),
            (to, to_device, from, from_device, bytes, stream))

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

cudaError_t cudaGetSymbolAddress(void **memory, const void *symbol) {
    CUdeviceptr address = 0;
    size_t bytes;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = memory ? cudart_find_variable(symbol, &address, &bytes) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *memory = (void *)(uintptr_t)address;
    return cudart_note(error);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    CUdeviceptr address;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    return cudart_note(bytes ? cudart_find_variable(symbol, &address, bytes) : cudaErrorInvalidValue);
}

/* Finds a part of a variable. Refuses a part that extends beyond the variable. */
static cudaError_t find_part(const void *symbol, size_t offset, size_t bytes, void **memory) {
    CUdeviceptr address;
    size_t all;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    cudaError_t error = cudart_find_variable(symbol, &address, &all);
    if (error == cudaSuccess && (offset > all || bytes > all - offset))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *memory = (void *)(uintptr_t)(address + offset);
    return error;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *to;
    cudaError_t error = find_part(symbol, offset, bytes, &to);
    if (error == cudaSuccess && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost))
        error = cudaErrorInvalidMemcpyDirection;
    return error == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, kind, stream) : cudart_note(error);
}
CUDART_PTSZ(cudaMemcpyToSymbolAsync,
            (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
             cudaStream_t stream),
            (symbol, from, bytes, offset, kind, stream))

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol);

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *from;
    cudaError_t error = find_part(symbol, offset, bytes, &from);
    if (error == cudaSuccess && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost))
        error = cudaErrorInvalidMemcpyDirection;
    return error == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, kind, stream) : cudart_note(error);
}
CUDART_PTSZ(cudaMemcpyFromSymbolAsync,
            (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
            (to, symbol, bytes, offset, kind, stream))

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol);

/* ---- Two dimensions ---------------------------------------------------------------------------------------------- */

/* Finds the memory type of each side of a copy. */
static cudaError_t sides_of(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to) {
    static const CUmemorytype sides[][2] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    *from = sides[kind][0];
    *to = sides[kind][1];
    return cudaSuccess;
}

static cudaError_t copy_lines(CUDA_MEMCPY2D *copy, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUresult result = cudart_start();
    cudaError_t error = (cudaError_t)result;
    CUmemorytype from, to;
    if (error == cudaSuccess)
        error = sides_of(kind, &from, &to);
    if (error != cudaSuccess)
        return cudart_note(error);
    copy->srcMemoryType = copy->srcArray ? CU_MEMORYTYPE_ARRAY : from;
    copy->dstMemoryType = copy->dstArray ? CU_MEMORYTYPE_ARRAY : to;
    bool is_narrow = (!copy->srcArray && copy->srcPitch < copy->WidthInBytes) ||
                     (!copy->dstArray && copy->dstPitch < copy->WidthInBytes);
    if (is_narrow && copy->WidthInBytes && copy->Height)
        return cudart_note(cudaErrorInvalidPitchValue);
    return cudart_end(cuMemcpy2DAsync(copy, stream));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_MEMCPY2D copy = {
        .srcHost = from,
        .srcDevice = (uintptr_t)from,
        .srcPitch = from_pitch,
        .dstHost = to,
        .dstDevice = (uintptr_t)to,
        .dstPitch = to_pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return copy_lines(&copy, kind, stream);
}
CUDART_PTSZ(cudaMemcpy2DAsync,
            (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            (to, to_pitch, from, from_pitch, width, height, kind, stream))

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_MEMCPY2D copy = {
        .srcHost = from,
        .srcDevice = (uintptr_t)from,
        .srcPitch = pitch,
        .dstArray = cudart_array(to),
        .dstXInBytes = x,
        .dstY = y,
        .WidthInBytes = width,
        .Height = height,
    };
    return to ? copy_lines(&copy, kind, stream) : cudart_note(cudaErrorInvalidResourceHandle);
}
CUDART_PTSZ(cudaMemcpy2DToArrayAsync,
            (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            (to, x, y, from, pitch, width, height, kind, stream))

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
    return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray);

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_MEMCPY2D copy = {
        .srcArray = cudart_array(from),
        .srcXInBytes = x,
        .srcY = y,
        .dstHost = to,
        .dstDevice = (uintptr_t)to,
        .dstPitch = pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return from ? copy_lines(&copy, kind, stream) : cudart_note(cudaErrorInvalidResourceHandle);
}
CUDART_PTSZ(cudaMemcpy2DFromArrayAsync,
            (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
             enum cudaMemcpyKind kind, cudaStream_t stream),
            (to, pitch, from, x, y, width, height, kind, stream))

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    CUDA_MEMCPY2D copy = {
        .srcArray = cudart_array(from),
        .srcXInBytes = from_x,
        .srcY = from_y,
        .dstArray = cudart_array(to),
        .dstXInBytes = to_x,
        .dstY = to_y,
        .WidthInBytes = width,
        .Height = height,
    };
    return to && from ? copy_lines(&copy, kind, NULL) : cudart_note(cudaErrorInvalidResourceHandle);
}
CUDART_ALIAS(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray);

/* ---- Three dimensions -------------------------------------------------------------------------------------------- */

/* Returns the bytes of an element: 1 without an array, because widths and positions are then in bytes; 0: no such
 * array. */
static size_t element_bytes(cudaArray_t array) {
    CUDA_ARRAY3D_DESCRIPTOR description;
    if (!array)
        return 1;
    if (cuArray3DGetDescriptor(&description, cudart_array(array)) != CUDA_SUCCESS)
        return 0;
    struct cudaChannelFormatDesc channels = cudart_description_of(description.Format, description.NumChannels);
    return (size_t)(channels.x + channels.y + channels.z + channels.w) / 8;
}

cudaError_t cudart_describe_copy(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *copy) {
    CUmemorytype source, target;
    cudaError_t error = sides_of(from->kind, &source, &target);
    if (error != cudaSuccess)
        return error;
    size_t from_bytes = element_bytes(from->srcArray), to_bytes = element_bytes(from->dstArray);
    if (!from_bytes || !to_bytes)
        return cudaErrorInvalidResourceHandle;
    if (!from->srcArray == !from->srcPtr.ptr || !from->dstArray == !from->dstPtr.ptr)
        return cudaErrorInvalidValue; /* each side is one of the two */
    if (from->srcArray && from->dstArray && from_bytes != to_bytes)
        return cudaErrorInvalidValue;
    *copy = (CUDA_MEMCPY3D){
        .srcXInBytes = from->srcPos.x * from_bytes,
        .srcY = from->srcPos.y,
        .srcZ = from->srcPos.z,
        .srcMemoryType = from->srcArray ? CU_MEMORYTYPE_ARRAY : source,
        .srcHost = from->srcPtr.ptr,
        .srcDevice = (uintptr_t)from->srcPtr.ptr,
        .srcArray = cudart_array(from->srcArray),
        .srcPitch = from->srcPtr.pitch,
        .srcHeight = from->srcPtr.ysize,
        .dstXInBytes = from->dstPos.x * to_bytes,
        .dstY = from->dstPos.y,
        .dstZ = from->dstPos.z,
        .dstMemoryType = from->dstArray ? CU_MEMORYTYPE_ARRAY : target,
        .dstHost = from->dstPtr.ptr,
        .dstDevice = (uintptr_t)from->dstPtr.ptr,
        .dstArray = cudart_array(from->dstArray),
        .dstPitch = from->dstPtr.pitch,
        .dstHeight = from->dstPtr.ysize,
        .WidthInBytes = from->extent.width * (from_bytes > to_bytes ? from_bytes : to_bytes),
        .Height = from->extent.height,
        .Depth = from->extent.depth,
    };
    return cudaSuccess;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy, cudaStream_t stream) {
    CUDA_MEMCPY3D driver_copy;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = copy ? cudart_describe_copy(copy, &driver_copy) : cudaErrorInvalidValue;
    return cudart_note(error != cudaSuccess ? error : (cudaError_t)cuMemcpy3DAsync(&driver_copy, stream));
}
CUDART_PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *copy, cudaStream_t stream), (copy, stream))

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *copy) { return cudaMemcpy3DAsync(copy, NULL); }
CUDART_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D);

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *copy, cudaStream_t stream) {
    if (!copy || copy->srcDevice != 0 || copy->dstDevice != 0)
        return cudart_note(copy ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    const struct cudaMemcpy3DParms same_device = {
        .srcArray = copy->srcArray,
        .srcPos = copy->srcPos,
        .srcPtr = copy->srcPtr,
        .dstArray = copy->dstArray,
        .dstPos = copy->dstPos,
        .dstPtr = copy->dstPtr,
        .extent = copy->extent,
        .kind = cudaMemcpyDeviceToDevice,
    };
    return cudaMemcpy3DAsync(&same_device, stream);
}
CUDART_PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *copy, cudaStream_t stream), (copy, stream))

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *copy) { return cudaMemcpy3DPeerAsync(copy, NULL); }
CUDART_ALIAS(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer);

/* ---- Many at once ------------------------------------------------------------------------------------------------ */

/* Attributes are hints. Version 12 had a pointer before the stream, to the number of a copy that failed. */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                 const void *attributes, const size_t *attribute_index, size_t n_attributes,
                                 cudaStream_t stream) {
    if (!to || !from || !bytes || !count || !attributes || !attribute_index || !n_attributes)
        return cudart_note(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, cudart_major >= 13 ? stream : NULL);
    return error;
}
CUDART_PTSZ(cudaMemcpyBatchAsync,
            (void *const *to, const void *const *from, const size_t *bytes, size_t count, const void *attributes,
             const size_t *attribute_index, size_t n_attributes, cudaStream_t stream),
            (to, from, bytes, count, attributes, attribute_index, n_attributes, stream))

/* ---- Filling three dimensions ------------------------------------------------------------------------------------ */

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream) {
    CUresult result = cudart_start();
    for (size_t z = 0; result == CUDA_SUCCESS && z < extent.depth; z++)
        result = cuMemsetD2D8Async((uintptr_t)to.ptr + z * to.pitch * to.ysize, to.pitch, (unsigned char)value,
                                   extent.width, extent.height, stream);
    return cudart_end(result);
}
CUDART_PTSZ(cudaMemset3DAsync, (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream),
            (to, value, extent, stream))

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
    return cudaMemset3DAsync(to, value, extent, NULL);
}
CUDART_ALIAS(cudaMemset3D_ptds, cudaMemset3D);
