/* Texture and surface objects: converts the runtime's descriptions to the driver's, and back. */
#include "cudart/internal.h"

#include <string.h>

/* ---- Resources --------------------------------------------------------------------------------------------------- */

static cudaError_t to_driver(const struct cudaResourceDesc *resource, CUDA_RESOURCE_DESC *description) {
    memset(description, 0, sizeof(*description));
    bool is_format = true;
    switch (resource->resType) {
    case cudaResourceTypeArray:
        description->resType = CU_RESOURCE_TYPE_ARRAY;
        description->res.array.hArray = cudart_array(resource->res.array.array);
        break;
    case cudaResourceTypeLinear:
        description->resType = CU_RESOURCE_TYPE_LINEAR;
        description->res.linear.devPtr = (uintptr_t)resource->res.linear.devPtr;
        description->res.linear.sizeInBytes = resource->res.linear.sizeInBytes;
        is_format = cudart_format_of(&resource->res.linear.desc, &description->res.linear.format,
                                     &description->res.linear.numChannels);
        break;
    case cudaResourceTypePitch2D:
        description->resType = CU_RESOURCE_TYPE_PITCH2D;
        description->res.pitch2D.devPtr = (uintptr_t)resource->res.pitch2D.devPtr;
        description->res.pitch2D.width = resource->res.pitch2D.width;
        description->res.pitch2D.height = resource->res.pitch2D.height;
        description->res.pitch2D.pitchInBytes = resource->res.pitch2D.pitchInBytes;
        is_format = cudart_format_of(&resource->res.pitch2D.desc, &description->res.pitch2D.format,
                                     &description->res.pitch2D.numChannels);
        break;
    case cudaResourceTypeMipmappedArray:
        description->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        description->res.mipmap.hMipmappedArray = (CUmipmappedArray)(void *)resource->res.mipmap.mipmap;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return is_format ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
}

static void from_driver(const CUDA_RESOURCE_DESC *description, struct cudaResourceDesc *resource) {
    struct cudaResourceDesc all = {.resType = (enum cudaResourceType)description->resType};
    switch (description->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        all.res.linear.devPtr = (void *)(uintptr_t)description->res.linear.devPtr;
        all.res.linear.sizeInBytes = description->res.linear.sizeInBytes;
        all.res.linear.desc =
            cudart_description_of(description->res.linear.format, description->res.linear.numChannels);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        all.res.pitch2D.devPtr = (void *)(uintptr_t)description->res.pitch2D.devPtr;
        all.res.pitch2D.width = description->res.pitch2D.width;
        all.res.pitch2D.height = description->res.pitch2D.height;
        all.res.pitch2D.pitchInBytes = description->res.pitch2D.pitchInBytes;
        all.res.pitch2D.desc =
            cudart_description_of(description->res.pitch2D.format, description->res.pitch2D.numChannels);
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        all.res.mipmap.mipmap = (cudaMipmappedArray_t)(void *)description->res.mipmap.hMipmappedArray;
        break;
    default:
        all.res.array.array = (cudaArray_t)(void *)description->res.array.hArray;
        break;
    }
    /* The size of the description before version 13: without the last field and without reserved space. */
    enum { OLD_BYTES = offsetof(struct cudaResourceDesc, res.pitch2D.pitchInBytes) + sizeof(size_t) };
    memcpy(resource, &all, cudart_major < 13 ? (size_t)OLD_BYTES : sizeof(all));
}

/* ---- Texture descriptions
 * ----------------------------------------------------------------------------------------- */

static CUDA_TEXTURE_DESC texture_to_driver(const struct cudaTextureDesc *from) {
    CUDA_TEXTURE_DESC to = {
        .filterMode = (CUfilter_mode)from->filterMode,
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
        .flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
                 (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (from->sRGB ? CU_TRSF_SRGB : 0u) |
                 (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u),
    };
    if (cudart_major >= 12 && from->seamlessCubemap) /* older descriptions end without it */
        to.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    for (unsigned i = 0; i < 3; i++)
        to.addressMode[i] = (CUaddress_mode)from->addressMode[i];
    memcpy(to.borderColor, from->borderColor, sizeof(to.borderColor));
    return to;
}

static struct cudaTextureDesc texture_from_driver(const CUDA_TEXTURE_DESC *from) {
    struct cudaTextureDesc to = {
        .filterMode = (enum cudaTextureFilterMode)from->filterMode,
        .readMode = from->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat,
        .sRGB = (from->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
        .disableTrilinearOptimization = (from->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
    };
    for (unsigned i = 0; i < 3; i++)
        to.addressMode[i] = (enum cudaTextureAddressMode)from->addressMode[i];
    memcpy(to.borderColor, from->borderColor, sizeof(to.borderColor));
    return to;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *description, const cudaResourceViewDesc *view) {
    CUDA_RESOURCE_DESC driver_resource;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    if (!texture || !resource || !description)
        return cudart_note(cudaErrorInvalidValue);
    cudaError_t error = to_driver(resource, &driver_resource);
    if (error != cudaSuccess)
        return cudart_note(error);
    const CUDA_TEXTURE_DESC driver_texture = texture_to_driver(description);
    return cudart_end(cuTexObjectCreate(texture, &driver_resource, &driver_texture, view));
}
CUDART_ALIAS(cudaCreateTextureObject_v2, cudaCreateTextureObject);

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t texture) {
    CUDA_RESOURCE_DESC description;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = resource ? cuTexObjectGetResourceDesc(&description, texture) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        from_driver(&description, resource);
    return cudart_end(result);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *description, cudaTextureObject_t texture) {
    CUDA_TEXTURE_DESC driver_texture;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = description ? cuTexObjectGetTextureDesc(&driver_texture, texture) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    struct cudaTextureDesc all = texture_from_driver(&driver_texture);
    memcpy(description, &all, cudart_major < 12 ? offsetof(struct cudaTextureDesc, seamlessCubemap) : sizeof(all));
    return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource) {
    CUDA_RESOURCE_DESC description;
    CUresult result = cudart_start();
    if (result != CUDA_SUCCESS)
        return cudart_end(result);
    cudaError_t error = surface && resource ? to_driver(resource, &description) : cudaErrorInvalidValue;
    return cudart_note(error != cudaSuccess ? error : (cudaError_t)cuSurfObjectCreate(surface, &description));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t surface) {
    CUDA_RESOURCE_DESC description;
    CUresult result = cudart_start();
    if (result == CUDA_SUCCESS)
        result = resource ? cuSurfObjectGetResourceDesc(&description, surface) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        from_driver(&description, resource);
    return cudart_end(result);
}
