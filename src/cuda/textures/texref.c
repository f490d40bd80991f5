/* Texture and surface references: variables of a module that the host binds to memory, as before texture objects. */
#include "cuda/internal.h"

#include <string.h>

/* ---- Handles ---------------------------------------------------------------------------------------------------- */

/* Returns the reference's object, made at the first query, or NULL if the module has no variable of that name and
 * kind. */
static void *find_reference(struct cuda_call *call, CUmodule handle, const char *name, enum cuda_kind kind,
                            CUresult *result) {
    struct CUmod_st *module = cuda_object_find(call, handle, CUDA_KIND_MODULE);
    *result = module && name ? CUDA_ERROR_NOT_FOUND : module ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    if (!module || !name)
        return NULL;
    const struct ptx_module *ptx = gpu_module_ptx(module->gpu);
    const struct ptx_variable *variable = ptx_find_variable(ptx, name);
    if (!variable || variable->object != (kind == CUDA_KIND_TEXREF ? PTX_OBJECT_TEXREF : PTX_OBJECT_SURFREF))
        return NULL;
    uint64_t texture = gpu_module_texture(module->gpu, name);
    if (!texture)
        return NULL;
    *result = CUDA_SUCCESS;
    for (unsigned i = 0; i < module->n_references; i++) {
        struct cuda_object *known = module->reference[i];
        if (known->kind == CUDA_KIND_TEXREF && kind == known->kind && ((struct CUtexref_st *)known)->handle == texture)
            return known;
        if (known->kind == CUDA_KIND_SURFREF && kind == known->kind &&
            ((struct CUsurfref_st *)known)->handle == texture)
            return known;
    }
    struct cuda_object *made = cuda_object_new(
        call, kind, kind == CUDA_KIND_TEXREF ? sizeof(struct CUtexref_st) : sizeof(struct CUsurfref_st));
    made->context = module->object.context;
    if (!module->reference)
        module->reference = cuda_allocate(ptx->n_variables * sizeof(*module->reference));
    module->reference[module->n_references++] = made;
    if (kind == CUDA_KIND_SURFREF) {
        ((struct CUsurfref_st *)made)->handle = texture;
        return made;
    }
    struct CUtexref_st *texref = (struct CUtexref_st *)made;
    texref->handle = texture;
    texref->format = CU_AD_FORMAT_FLOAT;
    texref->channels = 1;
    for (int i = 0; i < 3; i++)
        texref->texture.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    return made;
}

CUresult cuModuleGetTexRef(CUtexref *texture, CUmodule module, const char *name) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!texture)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result;
    struct CUtexref_st *found = find_reference(&call, module, name, CUDA_KIND_TEXREF, &result);
    if (found)
        *texture = found;
    return result;
}

CUresult cuModuleGetSurfRef(CUsurfref *surface, CUmodule module, const char *name) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!surface)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result;
    struct CUsurfref_st *found = find_reference(&call, module, name, CUDA_KIND_SURFREF, &result);
    if (found)
        *surface = found;
    return result;
}

/* ---- Binding ---------------------------------------------------------------------------------------------------- */

/* Sets the new state of the reference if it can be applied, otherwise keeps the old one. */
static CUresult update(struct cuda_call *call, struct CUtexref_st *texref, const struct CUtexref_st *wanted) {
    struct CUtexref_st before = *texref;
    *texref = *wanted;
    CUresult result = cuda_texref_apply(call, texref);
    if (result != CUDA_SUCCESS)
        *texref = before;
    return result;
}

CUresult cuTexRefSetArray(CUtexref texture, CUarray array, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (flags != CU_TRSA_OVERRIDE_FORMAT)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    wanted.is_bound = true;
    wanted.resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    return update(&call, found, &wanted);
}

CUresult cuTexRefSetMipmappedArray(CUtexref texture, CUmipmappedArray mipmap, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (flags != CU_TRSA_OVERRIDE_FORMAT)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    wanted.is_bound = true;
    wanted.resource =
        (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = mipmap};
    return update(&call, found, &wanted);
}

/* As on an H200: a texture begins at a multiple of CUDA_PITCH_ALIGNMENT from the start of an allocation, at or before
 * the address, and ends at the latest with the memory. C++ programs that name no size ask for 4 GB. Returns the
 * distance from the texture's start to the address. */
static size_t align_and_clip(const struct cuda_call *call, CUdeviceptr *address, size_t *bytes) {
    uint64_t base, all;
    if (!gpu_find_allocation(call->gpu, *address, &base, &all))
        return 0;
    uint64_t shift = (*address - base) % CUDA_PITCH_ALIGNMENT, left = base + all - *address;
    *address -= shift;
    *bytes = shift + (*bytes < left ? *bytes : left);
    return shift;
}

CUresult cuTexRefSetAddress(size_t *offset, CUtexref texture, CUdeviceptr address, size_t bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    size_t shift = align_and_clip(&call, &address, &bytes);
    if (shift && !offset)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    wanted.is_bound = address != 0;
    wanted.resource = (CUDA_RESOURCE_DESC){
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {.devPtr = address,
                       .format = found->format,
                       .numChannels = found->channels,
                       .sizeInBytes = bytes},
    };
    if (offset)
        *offset = shift;
    return update(&call, found, &wanted);
}

CUresult cuTexRefSetAddress2D(CUtexref texture, const CUDA_ARRAY_DESCRIPTOR *descriptor, CUdeviceptr address,
                              size_t pitch) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    uint64_t base, bytes;
    if (!descriptor ||
        (gpu_find_allocation(call.gpu, address, &base, &bytes) && (address - base) % CUDA_PITCH_ALIGNMENT != 0))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    wanted.is_bound = true;
    wanted.format = descriptor->Format;
    wanted.channels = descriptor->NumChannels;
    wanted.resource = (CUDA_RESOURCE_DESC){
        .resType = CU_RESOURCE_TYPE_PITCH2D,
        .res.pitch2D = {.devPtr = address,
                        .format = descriptor->Format,
                        .numChannels = descriptor->NumChannels,
                        .width = descriptor->Width,
                        .height = descriptor->Height,
                        .pitchInBytes = pitch},
    };
    return update(&call, found, &wanted);
}

CUresult cuSurfRefSetArray(CUsurfref surface, CUarray array, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUsurfref_st, found, cuda_object_find(&call, surface, CUDA_KIND_SURFREF));
    return flags ? CUDA_ERROR_INVALID_VALUE : cuda_surfref_apply(&call, found, array);
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref surface) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUsurfref_st, found, cuda_object_find(&call, surface, CUDA_KIND_SURFREF));
    if (!array || !found->array)
        return CUDA_ERROR_INVALID_VALUE;
    *array = found->array;
    return CUDA_SUCCESS;
}

/* A module's references are visible to all its kernels, so naming one for a kernel has no effect. */
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!cuda_find_function(&call, function) || !cuda_object_find(&call, texture, CUDA_KIND_TEXREF))
        return CUDA_ERROR_INVALID_HANDLE;
    return unit == CU_PARAM_TR_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Settings --------------------------------------------------------------------------------------------------- */

CUresult cuTexRefSetFormat(CUtexref texture, CUarray_format format, int channels) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!cuda_format_bytes(format) || (channels != 1 && channels != 2 && channels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    wanted.format = format;
    wanted.channels = (unsigned)channels;
    if (wanted.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        wanted.resource.res.linear.format = format;
        wanted.resource.res.linear.numChannels = (unsigned)channels;
    }
    return update(&call, found, &wanted);
}

CUresult cuTexRefSetAddressMode(CUtexref texture, int dimension, CUaddress_mode mode) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (dimension < 0 || dimension > 2)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    wanted.texture.addressMode[dimension] = mode;
    return update(&call, found, &wanted);
}

/* A call for each setting that is one member. */
#define SET(name, type, field)                                                                                         \
    CUresult name(CUtexref texture, type value) {                                                                      \
        CUDA_ENTER(call, cuda_enter_context());                                                                        \
        CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));                      \
        struct CUtexref_st wanted = *found;                                                                            \
        wanted.texture.field = value;                                                                                  \
        return update(&call, found, &wanted);                                                                          \
    }
SET(cuTexRefSetFilterMode, CUfilter_mode, filterMode)
SET(cuTexRefSetMipmapFilterMode, CUfilter_mode, mipmapFilterMode)
SET(cuTexRefSetMipmapLevelBias, float, mipmapLevelBias)
SET(cuTexRefSetFlags, unsigned, flags)
#undef SET

CUresult cuTexRefSetMipmapLevelClamp(CUtexref texture, float least, float most) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    struct CUtexref_st wanted = *found;
    wanted.texture.minMipmapLevelClamp = least;
    wanted.texture.maxMipmapLevelClamp = most;
    return update(&call, found, &wanted);
}

/* Stored, but without effect: filters are isotropic. */
CUresult cuTexRefSetMaxAnisotropy(CUtexref texture, unsigned maximum) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    found->texture.maxAnisotropy = maximum;
    return CUDA_SUCCESS;
}

CUresult cuTexRefSetBorderColor(CUtexref texture, float *color) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!color)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUtexref_st wanted = *found;
    memcpy(wanted.texture.borderColor, color, sizeof(wanted.texture.borderColor));
    return update(&call, found, &wanted);
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

CUresult cuTexRefGetAddress(CUdeviceptr *address, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    bool has_array = found->resource.resType == CU_RESOURCE_TYPE_ARRAY ||
                     found->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    if (!address || (found->is_bound && has_array))
        return CUDA_ERROR_INVALID_VALUE;
    *address = !found->is_bound                                     ? 0 /* as on an H200 */
               : found->resource.resType == CU_RESOURCE_TYPE_LINEAR ? found->resource.res.linear.devPtr
                                                                    : found->resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetArray(CUarray *array, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!array || !found->is_bound || found->resource.resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    *array = found->resource.res.array.hArray;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *mipmap, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!mipmap || !found->is_bound || found->resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    *mipmap = found->resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
}

/* A query for each of them. */
#define GET(name, type, field)                                                                                         \
    CUresult name(type *value, CUtexref texture) {                                                                     \
        CUDA_ENTER(call, cuda_enter_context());                                                                        \
        CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));                \
        if (!value)                                                                                                    \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
        *value = found->texture.field;                                                                                 \
        return CUDA_SUCCESS;                                                                                           \
    }
GET(cuTexRefGetFilterMode, CUfilter_mode, filterMode)
GET(cuTexRefGetMipmapFilterMode, CUfilter_mode, mipmapFilterMode)
GET(cuTexRefGetMipmapLevelBias, float, mipmapLevelBias)
GET(cuTexRefGetFlags, unsigned, flags)
#undef GET

CUresult cuTexRefGetMaxAnisotropy(int *maximum, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!maximum)
        return CUDA_ERROR_INVALID_VALUE;
    *maximum = (int)found->texture.maxAnisotropy;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!least || !most)
        return CUDA_ERROR_INVALID_VALUE;
    *least = found->texture.minMipmapLevelClamp;
    *most = found->texture.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref texture, int dimension) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!mode || dimension < 0 || dimension > 2)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = found->texture.addressMode[dimension];
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (format)
        *format = found->format;
    if (channels)
        *channels = (int)found->channels;
    return CUDA_SUCCESS;
}

CUresult cuTexRefGetBorderColor(float *color, CUtexref texture) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUtexref_st, found, cuda_object_find(&call, texture, CUDA_KIND_TEXREF));
    if (!color)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(color, found->texture.borderColor, sizeof(found->texture.borderColor));
    return CUDA_SUCCESS;
}

CUDA_ALIAS(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3);
