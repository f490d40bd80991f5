/* Arrays, mipmapped arrays and their channel formats. Left out: formats of compressed and normalized channels. */
#include "cudart/internal.h"

/* ---- Channel formats --------------------------------------------------------------------------------------------- */

static const struct {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
} formats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* All channels have as many bits as the first, or none. */
bool cudart_format_of(const struct cudaChannelFormatDesc *description, CUarray_format *format, unsigned *channels) {
    const int bits[4] = {description->x, description->y, description->z, description->w};
    for (*channels = 0; *channels < 4 && bits[*channels]; ++*channels)
        if (bits[*channels] != bits[0])
            return false;
    for (unsigned i = *channels; i < 4; i++)
        if (bits[i])
            return false;
    for (unsigned i = 0; i < N_FORMATS; i++)
        if (formats[i].kind == description->f && formats[i].bits == bits[0]) {
            *format = formats[i].format;
            return true;
        }
    return false;
}

struct cudaChannelFormatDesc cudart_description_of(CUarray_format format, unsigned channels) {
    struct cudaChannelFormatDesc description = {.f = cudaChannelFormatKindNone};
    for (unsigned i = 0; i < N_FORMATS; i++)
        if (formats[i].format == format)
            description = (struct cudaChannelFormatDesc){formats[i].bits, channels > 1 ? formats[i].bits : 0,
                                                         channels > 2 ? formats[i].bits : 0,
                                                         channels > 3 ? formats[i].bits : 0, formats[i].kind};
    return description;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static cudaError_t describe(const struct cudaChannelFormatDesc *format, struct cudaExtent extent, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR *description) {
    *description = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width,
        .Height = extent.height,
        .Depth = extent.depth,
        .Flags = flags,
    };
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    if (!format)
        return cudaErrorInvalidValue;
    bool is_format = cudart_format_of(format, &description->Format, &description->NumChannels);
    return is_format ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

static cudaError_t make(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                        unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR description;
    cudaError_t error = array ? describe(format, extent, flags, &description) : cudaErrorInvalidValue;
    return error ? error : (cudaError_t)cuArray3DCreate((CUarray *)(void *)array, &description);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *format,
                                     struct cudaExtent extent, unsigned n_levels, unsigned flags) {
    CUDA_ARRAY3D_DESCRIPTOR description;
    cudaError_t error = array ? describe(format, extent, flags, &description) : cudaErrorInvalidValue;
    if (!error)
        error = (cudaError_t)cuMipmappedArrayCreate((CUmipmappedArray *)(void *)array, &description, n_levels);
    return cudart_note(error);
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array, unsigned number) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuMipmappedArrayGetLevel((CUarray *)(void *)level, (CUmipmappedArray)(uintptr_t)array, number);
    return cudart_end(result);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS && array)
        result = cuMipmappedArrayDestroy((CUmipmappedArray)(void *)array);
    return cudart_end(result);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                            unsigned flags) {
    return cudart_note(make(array, format, (struct cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, struct cudaExtent extent,
                              unsigned flags) {
    return cudart_note(make(array, format, extent, flags));
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = cuArray3DGetDescriptor(&description, cudart_array(array));
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    if (format)
        *format = cudart_description_of(description.Format, description.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){description.Width, description.Height, description.Depth};
    if (flags)
        *flags = description.Flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array) {
    if (!format)
        return cudart_note(cudaErrorInvalidValue);
    return cudaArrayGetInfo(format, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}

/* ---- Linear copies ----------------------------------------------------------------------------------------------- */

/* A linear copy traverses an array line by line, as if its lines followed each other without a gap. */
struct piece {
    size_t x, y, bytes, done; /* the position in the array, the length, and the bytes before it */
};

static cudaError_t line_bytes_of(cudaArray_const_t array, size_t *bytes) {
    struct cudaChannelFormatDesc format = {0};
    struct cudaExtent extent = {0};
    cudaError_t error = cudaArrayGetInfo(&format, &extent, NULL, (cudaArray_t)(uintptr_t)array);
    if (error == cudaSuccess)
        *bytes = extent.width * (size_t)(format.x + format.y + format.z + format.w) / 8;
    return error;
}

static bool next_piece(struct piece *piece, size_t line_bytes, size_t bytes) {
    piece->done += piece->bytes;
    piece->x += piece->bytes;
    if (piece->x >= line_bytes) {
        piece->x = 0;
        piece->y++;
    }
    piece->bytes = line_bytes - piece->x;
    if (piece->bytes > bytes - piece->done)
        piece->bytes = bytes - piece->done;
    return piece->bytes != 0;
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    size_t line_bytes = 0;
    cudaError_t error = line_bytes_of(to, &line_bytes);
    struct piece piece = {.x = x, .y = y};
    while (error == cudaSuccess && next_piece(&piece, line_bytes, bytes))
        error = cudaMemcpy2DToArrayAsync(to, piece.x, piece.y, (const char *)from + piece.done, piece.bytes,
                                         piece.bytes, 1, kind, stream);
    return error;
}
CUDART_PTSZ(cudaMemcpyToArrayAsync,
            (cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes, enum cudaMemcpyKind kind,
             cudaStream_t stream),
            (to, x, y, from, bytes, kind, stream))

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    return cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyToArray_ptds, cudaMemcpyToArray);

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    size_t line_bytes = 0;
    cudaError_t error = line_bytes_of(from, &line_bytes);
    struct piece piece = {.x = x, .y = y};
    while (error == cudaSuccess && next_piece(&piece, line_bytes, bytes))
        error = cudaMemcpy2DFromArrayAsync((char *)to + piece.done, piece.bytes, from, piece.x, piece.y, piece.bytes, 1,
                                           kind, stream);
    return error;
}
CUDART_PTSZ(cudaMemcpyFromArrayAsync,
            (void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, enum cudaMemcpyKind kind,
             cudaStream_t stream),
            (to, from, x, y, bytes, kind, stream))

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    return cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray);

/* Both arrays advance to their next lines independently. */
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t bytes, enum cudaMemcpyKind kind) {
    size_t to_line = 0, from_line = 0;
    cudaError_t error = line_bytes_of(to, &to_line);
    if (error == cudaSuccess)
        error = line_bytes_of(from, &from_line);
    while (error == cudaSuccess && bytes) {
        size_t n = to_line - to_x < from_line - from_x ? to_line - to_x : from_line - from_x;
        n = n < bytes ? n : bytes;
        error = cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, n, 1, kind);
        bytes -= n;
        to_y += to_x + n == to_line;
        to_x = (to_x + n) % to_line;
        from_y += from_x + n == from_line;
        from_x = (from_x + n) % from_line;
    }
    return error;
}
CUDART_ALIAS(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray);

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *format,
                                                 int device) {
    CUarray_format driver_format;
    unsigned channels;
    int texels = 0;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS && (!width || !format || !cudart_format_of(format, &driver_format, &channels)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetAttribute(&texels, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, device);
    if (result == CUDA_SUCCESS)
        *width = (size_t)texels;
    return cudart_end(result);
}
