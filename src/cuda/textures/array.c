/* Arrays: texels in lines of device memory. A real device stores them in an order that no program can see. Here they
 * are plain lines, slice after slice; a slice is a step of the third dimension, a layer or a face of a cube. A
 * mipmapped array consists of one array for each level. Only the plain texel formats are supported: no
 * block-compressed, planar or normalised ones. */
#include "cuda/internal.h"

uint32_t cuda_format_bytes(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static uint64_t at_least_one(uint64_t n) { return n ? n : 1; }

static CUresult create(struct cuda_call *call, CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    uint32_t channels = descriptor->NumChannels, channel_bytes = cuda_format_bytes(descriptor->Format);
    if (!descriptor->Width || (channels != 1 && channels != 2 && channels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    if (!channel_bytes)
        return cuda_refuse(call, CUDA_ERROR_NOT_SUPPORTED, "cuArrayCreate: texel format 0x%x is not supported",
                           (unsigned)descriptor->Format);
    if (descriptor->Flags & ~(unsigned)(CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP |
                                        CUDA_ARRAY3D_TEXTURE_GATHER))
        return cuda_refuse(call, CUDA_ERROR_NOT_SUPPORTED, "cuArray3DCreate: flags 0x%x are not supported",
                           descriptor->Flags);
    bool is_cube = descriptor->Flags & CUDA_ARRAY3D_CUBEMAP, is_layered = descriptor->Flags & CUDA_ARRAY3D_LAYERED;
    if (is_cube && (descriptor->Width != descriptor->Height || !descriptor->Depth || descriptor->Depth % 6 ||
                    (!is_layered && descriptor->Depth != 6)))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_layered && !descriptor->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t line, bytes;
    if (__builtin_mul_overflow(descriptor->Width, channels * channel_bytes, &line) || line > INT64_MAX / 2)
        return CUDA_ERROR_OUT_OF_MEMORY;
    line = (line + CUDA_PITCH_ALIGNMENT - 1) & ~(uint64_t)(CUDA_PITCH_ALIGNMENT - 1);
    if (__builtin_mul_overflow(line, at_least_one(descriptor->Height), &bytes) ||
        __builtin_mul_overflow(bytes, at_least_one(descriptor->Depth), &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t address = gpu_malloc(call->gpu, bytes, CUDA_PITCH_ALIGNMENT);
    if (!address)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct CUarray_st *made = cuda_object_new(call, CUDA_KIND_ARRAY, sizeof(*made));
    made->descriptor = *descriptor;
    made->address = address;
    made->pitch = line;
    cuda_note_memory(call->state);
    *array = made;
    return CUDA_SUCCESS;
}

void cuda_array_destroy(struct cuda_state *state, struct CUarray_st *array) {
    gpu_release(state->gpu, array->address);
    cuda_object_delete(state, array);
}

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    CUDA_ENTER(call, cuda_enter_context());
    return array && descriptor ? create(&call, array, descriptor) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!array || !descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR full = {
        .Width = descriptor->Width,
        .Height = descriptor->Height,
        .Format = descriptor->Format,
        .NumChannels = descriptor->NumChannels,
    };
    return create(&call, array, &full);
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUarray_st, found, cuda_object_find(&call, array, CUDA_KIND_ARRAY));
    if (!descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    *descriptor = found->descriptor;
    return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR full;
    CUresult result = cuArray3DGetDescriptor(&full, array);
    if (result != CUDA_SUCCESS)
        return result;
    if (!descriptor)
        return CUDA_ERROR_INVALID_VALUE;
    *descriptor = (CUDA_ARRAY_DESCRIPTOR){full.Width, full.Height, full.Format, full.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) {
    CUDA_ENTER(call, cuda_enter_context());
    struct CUarray_st *found = cuda_object_find(&call, array, CUDA_KIND_ARRAY);
    if (!found || found->is_level)
        return CUDA_ERROR_INVALID_HANDLE;
    cuda_array_destroy(call.state, found);
    return CUDA_SUCCESS;
}

/* ---- Mipmapped arrays ------------------------------------------------------------------------------------------- */

static uint64_t halved(uint64_t size, unsigned level) { return size == 0 ? 0 : size >> level ? size >> level : 1; }

/* Each level halves every size except the number of layers and faces. */
static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level) {
    CUDA_ARRAY3D_DESCRIPTOR d = *whole;
    d.Width = halved(whole->Width, level);
    d.Height = halved(whole->Height, level);
    if (!(whole->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        d.Depth = halved(whole->Depth, level);
    return d;
}

static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    bool has_slices = d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    uint64_t longest = d->Width > d->Height ? d->Width : d->Height;
    if (!has_slices && d->Depth > longest)
        longest = d->Depth;
    unsigned n = longest ? 64 - (unsigned)__builtin_clzll(longest) : 1;
    return n < EXEC_MAX_LEVELS ? n : EXEC_MAX_LEVELS;
}

static void destroy_levels(struct cuda_state *state, struct CUmipmappedArray_st *mipmap) {
    for (unsigned i = 0; i < mipmap->n_levels; i++)
        cuda_array_destroy(state, mipmap->level[i]);
    cuda_object_delete(state, mipmap);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned n_levels) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!array || !descriptor || !n_levels)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUmipmappedArray_st *made = cuda_object_new(&call, CUDA_KIND_MIPMAP, sizeof(*made));
    unsigned most = most_levels(descriptor);
    for (made->n_levels = 0; made->n_levels < n_levels && made->n_levels < most; made->n_levels++) {
        CUDA_ARRAY3D_DESCRIPTOR level = level_of(descriptor, made->n_levels);
        CUresult result = create(&call, &made->level[made->n_levels], &level);
        if (result != CUDA_SUCCESS) {
            destroy_levels(call.state, made);
            return result;
        }
        made->level[made->n_levels]->is_level = true;
    }
    *array = made;
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUmipmappedArray_st, found, cuda_object_find(&call, mipmap, CUDA_KIND_MIPMAP));
    if (!array || level >= found->n_levels)
        return CUDA_ERROR_INVALID_VALUE;
    *array = found->level[level];
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUmipmappedArray_st, found, cuda_object_find(&call, mipmap, CUDA_KIND_MIPMAP));
    destroy_levels(call.state, found);
    return CUDA_SUCCESS;
}
