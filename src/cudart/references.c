/* Texture and surface references: the settings in the program's variable become settings of the driver's reference when
 * it is bound. Later changes wait for the next binding, because no call reports them. */
#include "cudart/references.h"

#include "cudart/internal.h"

/* ---- Textures ---------------------------------------------------------------------------------------------------- */

/* Applies the settings of the program's variable and unbinds the previous memory. */
static CUresult apply_settings(const struct textureReference *from, CUtexref texture, bool reads_fractions) {
    unsigned flags = (reads_fractions ? 0u : CU_TRSF_READ_AS_INTEGER) |
                     (from->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (from->sRGB ? CU_TRSF_SRGB : 0u) |
                     (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u);
    CUresult result = cuTexRefSetAddress(NULL, texture, 0, 0);
    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
        result = cuTexRefSetAddressMode(texture, i, (CUaddress_mode)from->addressMode[i]);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetFilterMode(texture, (CUfilter_mode)from->filterMode);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetFlags(texture, flags);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetMaxAnisotropy(texture, from->maxAnisotropy);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetMipmapFilterMode(texture, (CUfilter_mode)from->mipmapFilterMode);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetMipmapLevelBias(texture, from->mipmapLevelBias);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetMipmapLevelClamp(texture, from->minMipmapLevelClamp, from->maxMipmapLevelClamp);
    return result;
}

static cudaError_t prepare(const struct textureReference *reference, struct cudart_texture **texture) {
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    cudaError_t error = cudart_find_texture(reference, texture);
    if (error != cudaSuccess)
        return error;
    (*texture)->offset = 0;
    return (cudaError_t)apply_settings(reference, (*texture)->reference, (*texture)->reads_fractions);
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference, const void *memory,
                            const struct cudaChannelFormatDesc *format, size_t bytes) {
    struct cudart_texture *texture;
    CUarray_format element;
    unsigned channels;
    if (!format || !memory)
        return cudart_note(cudaErrorInvalidValue);
    if (!cudart_format_of(format, &element, &channels))
        return cudart_note(cudaErrorInvalidChannelDescriptor);
    cudaError_t error = prepare(reference, &texture);
    if (error != cudaSuccess)
        return cudart_note(error);
    CUresult result = cuTexRefSetFormat(texture->reference, element, (int)channels);
    if (result == CUDA_SUCCESS)
        result = cuTexRefSetAddress(offset ? &texture->offset : NULL, texture->reference, (uintptr_t)memory, bytes);
    if (result == CUDA_SUCCESS && offset)
        *offset = texture->offset;
    return cudart_end(result);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *reference, const void *memory,
                              const struct cudaChannelFormatDesc *format, size_t width, size_t height, size_t pitch) {
    struct cudart_texture *texture;
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = width, .Height = height};
    if (!format || !memory)
        return cudart_note(cudaErrorInvalidValue);
    if (!cudart_format_of(format, &shape.Format, &shape.NumChannels))
        return cudart_note(cudaErrorInvalidChannelDescriptor);
    cudaError_t error = prepare(reference, &texture);
    if (error != cudaSuccess)
        return cudart_note(error);
    if (offset)
        *offset = 0; /* others are refused */
    return cudart_end(cuTexRefSetAddress2D(texture->reference, &shape, (uintptr_t)memory, pitch));
}

/* An array has its own format, which the program's description only repeats. */
cudaError_t cudaBindTextureToArray(const struct textureReference *reference, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *format) {
    (void)format;
    struct cudart_texture *texture;
    cudaError_t error = prepare(reference, &texture);
    if (error != cudaSuccess)
        return cudart_note(error);
    return cudart_end(cuTexRefSetArray(texture->reference, cudart_array(array), CU_TRSA_OVERRIDE_FORMAT));
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *reference, cudaMipmappedArray_const_t mipmap,
                                            const struct cudaChannelFormatDesc *format) {
    (void)format;
    struct cudart_texture *texture;
    cudaError_t error = prepare(reference, &texture);
    if (error != cudaSuccess)
        return cudart_note(error);
    CUmipmappedArray levels = (CUmipmappedArray)(uintptr_t)mipmap;
    return cudart_end(cuTexRefSetMipmappedArray(texture->reference, levels, CU_TRSA_OVERRIDE_FORMAT));
}

cudaError_t cudaUnbindTexture(const struct textureReference *reference) {
    struct cudart_texture *texture;
    return cudart_note(prepare(reference, &texture));
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *reference) {
    struct cudart_texture *texture;
    CUdeviceptr address;
    CUarray array;
    CUmipmappedArray mipmap;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = offset ? cudart_find_texture(reference, &texture) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return cudart_note(error);
    bool is_bound = (cuTexRefGetAddress(&address, texture->reference) == CUDA_SUCCESS && address != 0) ||
                    cuTexRefGetArray(&array, texture->reference) == CUDA_SUCCESS ||
                    cuTexRefGetMipmappedArray(&mipmap, texture->reference) == CUDA_SUCCESS;
    if (!is_bound)
        return cudart_note(cudaErrorInvalidTextureBinding);
    *offset = texture->offset;
    return cudaSuccess;
}

/* The program asks for the variable itself. */
cudaError_t cudaGetTextureReference(const struct textureReference **reference, const void *symbol) {
    struct cudart_texture *texture;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = reference ? cudart_find_texture(symbol, &texture) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *reference = symbol;
    return cudart_note(error);
}

/* ---- Surfaces ---------------------------------------------------------------------------------------------------- */

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *reference, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *format) {
    (void)format;
    CUsurfref surface;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = cudart_find_surface(reference, &surface);
    if (error != cudaSuccess)
        return cudart_note(error);
    return cudart_end(cuSurfRefSetArray(surface, cudart_array(array), 0));
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **reference, const void *symbol) {
    CUsurfref surface;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = reference ? cudart_find_surface(symbol, &surface) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *reference = symbol;
    return cudart_note(error);
}
