/* Textures and surfaces: objects, and the references that modules declare.
 *
 * A texture may read arrays of all geometries, mipmapped arrays, linear memory, and lines with a pitch. Left out:
 * resource views, anisotropy, depth textures, filtering across the edges of cubes. A reference takes effect when its
 * resource is bound, and again with each later setting. */
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Descriptions ----------------------------------------------------------------------------------------------- */

static enum exec_texel texel_of(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return EXEC_TEXEL_U8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return EXEC_TEXEL_U16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return EXEC_TEXEL_U32;
    case CU_AD_FORMAT_SIGNED_INT8:
        return EXEC_TEXEL_S8;
    case CU_AD_FORMAT_SIGNED_INT16:
        return EXEC_TEXEL_S16;
    case CU_AD_FORMAT_SIGNED_INT32:
        return EXEC_TEXEL_S32;
    case CU_AD_FORMAT_HALF:
        return EXEC_TEXEL_F16;
    default:
        return EXEC_TEXEL_F32;
    }
}

static bool is_format(CUarray_format format, unsigned channels) {
    return cuda_format_bytes(format) && (channels == 1 || channels == 2 || channels == 4);
}

static CUresult describe_array(const struct cuda_call *call, CUarray handle, struct exec_texture *texture) {
    CUDA_FIND(const struct CUarray_st, array, cuda_object_find(call, handle, CUDA_KIND_ARRAY));
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    bool has_slices = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    *texture = (struct exec_texture){
        .address = array->address,
        .pitch = array->pitch,
        .width = (uint32_t)d->Width,
        .height = (uint32_t)d->Height,
        .slice = array->pitch * (d->Height ? d->Height : 1),
        .depth = has_slices ? 0 : (uint32_t)d->Depth,
        .layers = has_slices ? (uint32_t)d->Depth : 0,
        .is_cube = d->Flags & CUDA_ARRAY3D_CUBEMAP,
        .texel = texel_of(d->Format),
        .channels = d->NumChannels,
    };
    return CUDA_SUCCESS;
}

static CUresult describe_mipmap(const struct cuda_call *call, CUmipmappedArray handle, struct exec_texture *texture) {
    CUDA_FIND(const struct CUmipmappedArray_st, mipmap, cuda_object_find(call, handle, CUDA_KIND_MIPMAP));
    struct exec_texture level = {.width = 0};
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = mipmap->n_levels; i-- > 0 && result == CUDA_SUCCESS;) { /* the first is described last */
        result = describe_array(call, mipmap->level[i], texture);
        level.level[i] = (struct exec_level){texture->address, texture->pitch, texture->slice};
    }
    texture->n_levels = mipmap->n_levels;
    memcpy(texture->level, level.level, sizeof(texture->level));
    return result;
}

/* Describes where the texels are. How they are read is set later. */
static CUresult describe_resource(const struct cuda_call *call, const CUDA_RESOURCE_DESC *resource,
                                  struct exec_texture *texture) {
    if (resource->flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return describe_array(call, resource->res.array.hArray, texture);
    case CU_RESOURCE_TYPE_LINEAR: {
        if (!is_format(resource->res.linear.format, resource->res.linear.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        uint64_t texel_bytes = cuda_format_bytes(resource->res.linear.format) * resource->res.linear.numChannels;
        uint64_t width = resource->res.linear.sizeInBytes / texel_bytes;
        if (width > CUDA_MAX_LINEAR_TEXELS || !gpu_host(call->gpu, resource->res.linear.devPtr, width * texel_bytes))
            return CUDA_ERROR_INVALID_VALUE;
        *texture = (struct exec_texture){
            .address = resource->res.linear.devPtr,
            .pitch = width * texel_bytes,
            .width = (uint32_t)width,
            .texel = texel_of(resource->res.linear.format),
            .channels = resource->res.linear.numChannels,
            .is_buffer = true,
        };
        return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
        if (!is_format(resource->res.pitch2D.format, resource->res.pitch2D.numChannels) ||
            !resource->res.pitch2D.height)
            return CUDA_ERROR_INVALID_VALUE;
        uint64_t pitch = resource->res.pitch2D.pitchInBytes, width = resource->res.pitch2D.width;
        uint64_t line = width * cuda_format_bytes(resource->res.pitch2D.format) * resource->res.pitch2D.numChannels,
                 bytes;
        if (width > UINT32_MAX || resource->res.pitch2D.height > UINT32_MAX || pitch < line || pitch % 32 ||
            __builtin_mul_overflow(resource->res.pitch2D.height - 1, pitch, &bytes) ||
            !gpu_host(call->gpu, resource->res.pitch2D.devPtr, bytes + line))
            return CUDA_ERROR_INVALID_VALUE;
        *texture = (struct exec_texture){
            .address = resource->res.pitch2D.devPtr,
            .pitch = pitch,
            .width = (uint32_t)width,
            .height = (uint32_t)resource->res.pitch2D.height,
            .texel = texel_of(resource->res.pitch2D.format),
            .channels = resource->res.pitch2D.numChannels,
        };
        return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return describe_mipmap(call, resource->res.mipmap.hMipmappedArray, texture);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Repeating and mirroring exist only for normalised coordinates. With others the edge is repeated (CUDA C++ Programming
 * Guide, texture memory). */
static enum exec_wrap wrap_of(CUaddress_mode mode, bool is_normalized) {
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
        return is_normalized ? EXEC_WRAP_REPEAT : EXEC_WRAP_CLAMP;
    case CU_TR_ADDRESS_MODE_MIRROR:
        return is_normalized ? EXEC_WRAP_MIRROR : EXEC_WRAP_CLAMP;
    case CU_TR_ADDRESS_MODE_BORDER:
        return EXEC_WRAP_BORDER;
    default:
        return EXEC_WRAP_CLAMP;
    }
}

static CUresult describe_reading(const CUDA_TEXTURE_DESC *d, struct exec_texture *texture) {
    if (d->filterMode > CU_TR_FILTER_MODE_LINEAR || d->addressMode[0] > CU_TR_ADDRESS_MODE_BORDER ||
        d->addressMode[1] > CU_TR_ADDRESS_MODE_BORDER || d->addressMode[2] > CU_TR_ADDRESS_MODE_BORDER ||
        d->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_float = texture->texel == EXEC_TEXEL_F16 || texture->texel == EXEC_TEXEL_F32;
    bool is_wide = texture->texel == EXEC_TEXEL_U32 || texture->texel == EXEC_TEXEL_S32; /* never read as fractions */
    texture->is_normalized_coords = d->flags & CU_TRSF_NORMALIZED_COORDINATES;
    texture->reads_normalized = !is_float && !is_wide && !(d->flags & CU_TRSF_READ_AS_INTEGER);
    texture->is_linear = d->filterMode == CU_TR_FILTER_MODE_LINEAR;
    if (texture->is_linear && !is_float && !texture->reads_normalized)
        return CUDA_ERROR_INVALID_VALUE; /* integers are not interpolated */
    for (int i = 0; i < 3; i++)
        texture->wrap[i] = wrap_of(d->addressMode[i], texture->is_normalized_coords);
    memcpy(texture->border, d->borderColor, sizeof(texture->border));
    texture->is_srgb = d->flags & CU_TRSF_SRGB && texture->reads_normalized && texture->texel == EXEC_TEXEL_U8;
    texture->is_seamless = d->flags & CU_TRSF_SEAMLESS_CUBEMAP;
    texture->is_mip_linear = d->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    texture->level_bias = d->mipmapLevelBias;
    texture->min_level = d->minMipmapLevelClamp;
    texture->max_level = d->maxMipmapLevelClamp;
    return CUDA_SUCCESS;
}

/* ---- Objects ---------------------------------------------------------------------------------------------------- */

static CUresult make(struct cuda_call *call, const struct exec_texture *texture,
                     const struct cuda_texture_object *described, unsigned long long *handle) {
    uint64_t made = gpu_texture_new(call->gpu, texture);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct cuda_texture_object *object = cuda_allocate(sizeof(*object));
    *object = *described;
    object->context = call->context;
    cuda_table_put(&call->state->textures, made, object);
    *handle = made;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!object || !resource || !texture)
        return CUDA_ERROR_INVALID_VALUE;
    if (view && view->format != CU_RES_VIEW_FORMAT_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct exec_texture described;
    CUresult result = describe_resource(&call, resource, &described);
    if (result == CUDA_SUCCESS)
        result = describe_reading(texture, &described);
    if (result != CUDA_SUCCESS)
        return result;
    const struct cuda_texture_object kept = {.resource = *resource, .texture = *texture};
    return make(&call, &described, &kept, object);
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!object || !resource || resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    struct exec_texture described;
    CUresult result = describe_resource(&call, resource, &described);
    if (result != CUDA_SUCCESS)
        return result;
    const struct cuda_texture_object kept = {.is_surface = true, .resource = *resource};
    return make(&call, &described, &kept, object);
}

static struct cuda_texture_object *find_object(const struct cuda_call *call, unsigned long long handle,
                                               bool is_surface) {
    struct cuda_texture_object *object = cuda_table_get(&call->state->textures, handle);
    return object && object->is_surface == is_surface ? object : NULL;
}

static CUresult destroy(unsigned long long handle, bool is_surface) {
    CUDA_ENTER(call, cuda_enter_context());
    struct cuda_texture_object *object = find_object(&call, handle, is_surface);
    if (!object)
        return CUDA_ERROR_INVALID_VALUE;
    cuda_table_remove(&call.state->textures, handle);
    gpu_texture_free(call.gpu, handle);
    free(object);
    return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject object) { return destroy(object, false); }

CUresult cuSurfObjectDestroy(CUsurfObject object) { return destroy(object, true); }

void cuda_textures_destroy(struct cuda_state *state, const struct CUctx_st *context) {
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&state->textures, &at));) {
        struct cuda_texture_object *object = entry->value;
        if (object->context != context)
            continue;
        gpu_texture_free(state->gpu, entry->key);
        cuda_table_remove(&state->textures, entry->key);
        free(object);
    }
}

static CUresult get_resource(CUDA_RESOURCE_DESC *resource, unsigned long long handle, bool is_surface) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct cuda_texture_object *object = find_object(&call, handle, is_surface);
    if (!resource || !object)
        return CUDA_ERROR_INVALID_VALUE;
    *resource = object->resource;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object) {
    return get_resource(resource, object, false);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object) {
    return get_resource(resource, object, true);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *texture, CUtexObject object) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct cuda_texture_object *found = find_object(&call, object, false);
    if (!texture || !found)
        return CUDA_ERROR_INVALID_VALUE;
    *texture = found->texture;
    return CUDA_SUCCESS;
}

/* ---- For references (texref.c) ---------------------------------------------------------------------------------- */

CUresult cuda_texref_apply(struct cuda_call *call, struct CUtexref_st *texref) {
    if (!texref->is_bound)
        return CUDA_SUCCESS;
    struct exec_texture described;
    CUresult result = describe_resource(call, &texref->resource, &described);
    if (result == CUDA_SUCCESS)
        result = describe_reading(&texref->texture, &described);
    if (result == CUDA_SUCCESS)
        gpu_texture_set(call->gpu, texref->handle, &described);
    return result;
}

CUresult cuda_surfref_apply(struct cuda_call *call, struct CUsurfref_st *surfref, CUarray array) {
    struct exec_texture described;
    CUresult result = describe_array(call, array, &described);
    if (result != CUDA_SUCCESS)
        return result;
    surfref->array = array;
    gpu_texture_set(call->gpu, surfref->handle, &described);
    return CUDA_SUCCESS;
}
