/* Copies between host memory, device memory and arrays, in one, two and three dimensions.
 *
 * A copy, even an asynchronous one, is done when its call returns, unless it comes after work that waits (waiting.c);
 * the API allows that order. On the device's timeline
 * the program waits for a synchronous copy, and for any copy from or to host memory that is not pinned. A host address
 * in the device's arena may be passed as a host pointer, as with unified addressing. */
#include "cuda/internal.h"

#include <string.h>

/* One side of a copy: line (y, z) begins at first + (z * height + y) * pitch. */
struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z;       /* the start of the box: bytes, lines, slices */
    size_t pitch, height; /* of host and device memory: bytes per line, lines per slice */
};

struct box {
    size_t width, height, depth; /* bytes, lines, slices */
};

struct place {
    unsigned char *first;
    size_t pitch, slice; /* bytes */
};

/* Computes the bytes from the first of the box to one past its last. Returns false if that does not fit a size_t. */
static bool span(const struct box *box, size_t pitch, size_t slice, size_t *bytes) {
    size_t lines, slices;
    return !__builtin_mul_overflow(box->height - 1, pitch, &lines) &&
           !__builtin_mul_overflow(box->depth - 1, slice, &slices) && !__builtin_add_overflow(lines, slices, bytes) &&
           !__builtin_add_overflow(*bytes, box->width, bytes);
}

/* The start of the box as an offset. */
static bool offset_of(const struct side *side, size_t pitch, size_t slice, size_t *offset) {
    size_t lines, slices;
    return !__builtin_mul_overflow(side->y, pitch, &lines) && !__builtin_mul_overflow(side->z, slice, &slices) &&
           !__builtin_add_overflow(lines, slices, offset) && !__builtin_add_overflow(*offset, side->x, offset);
}

/* Returns the host's view of device memory, or NULL if it is not inside one allocation. */
static unsigned char *view(const struct cuda_call *call, uint64_t address, uint64_t bytes, bool is_source) {
    return is_source ? (unsigned char *)gpu_host_read(call->gpu, address, bytes) : gpu_host(call->gpu, address, bytes);
}

static bool place_in_array(const struct cuda_call *call, const struct side *side, const struct box *box, bool is_source,
                           struct place *place) {
    const struct CUarray_st *array = cuda_object_find(call, side->array, CUDA_KIND_ARRAY);
    if (!array)
        return false;
    const CUDA_ARRAY3D_DESCRIPTOR *d = &array->descriptor;
    size_t line = d->Width * d->NumChannels * cuda_format_bytes(d->Format);
    size_t height = d->Height ? d->Height : 1, depth = d->Depth ? d->Depth : 1;
    if (side->x > line || box->width > line - side->x || side->y > height || box->height > height - side->y ||
        side->z > depth || box->depth > depth - side->z)
        return false;
    *place = (struct place){NULL, array->pitch, array->pitch * height};
    uint64_t offset = side->z * place->slice + side->y * place->pitch + side->x;
    size_t bytes;
    if (!span(box, place->pitch, place->slice, &bytes))
        return false;
    place->first = view(call, array->address + offset, bytes, is_source);
    return place->first != NULL;
}

/* Checks one side and finds its memory. */
static bool find_place(const struct cuda_call *call, const struct side *side, const struct box *box, bool is_source,
                       struct place *place) {
    if (side->type == CU_MEMORYTYPE_ARRAY)
        return place_in_array(call, side, box, is_source, place);
    bool has_lines = box->height > 1 || box->depth > 1 || side->y || side->z;
    size_t needed, offset, bytes;
    if (__builtin_add_overflow(side->x, box->width, &needed) || (has_lines && side->pitch < needed))
        return false;
    size_t pitch = side->pitch, slice;
    bool has_slices = box->depth > 1 || side->z;
    if (has_slices && side->height < side->y + box->height)
        return false;
    if (__builtin_mul_overflow(pitch, side->height, &slice) || !offset_of(side, pitch, slice, &offset) ||
        !span(box, pitch, slice, &bytes))
        return false;
    *place = (struct place){NULL, pitch, slice};
    switch (side->type) {
    case CU_MEMORYTYPE_HOST:
        place->first = side->host ? (unsigned char *)side->host + offset : NULL;
        break;
    case CU_MEMORYTYPE_DEVICE:
        place->first = view(call, side->device + offset, bytes, is_source);
        break;
    case CU_MEMORYTYPE_UNIFIED: /* device memory by its address, otherwise the program's own */
        place->first = view(call, side->device + offset, bytes, is_source);
        if (!place->first && !gpu_is_device_address(call->gpu, side->device))
            place->first = side->device ? (unsigned char *)(uintptr_t)side->device + offset : NULL;
        break;
    default:
        break;
    }
    return place->first != NULL;
}

/* Where memory is. */
enum home { HOME_DEVICE, HOME_PINNED, HOME_PAGEABLE };

static enum home home_of(const struct cuda_call *call, const struct side *side) {
    bool is_host = side->type == CU_MEMORYTYPE_HOST;
    uint64_t address = is_host ? (uintptr_t)side->host : side->device;
    if (side->type == CU_MEMORYTYPE_ARRAY)
        return HOME_DEVICE;
    const struct cuda_allocation *found =
        !is_host || gpu_is_unified(call->gpu) ? cuda_find_allocation(call, address) : NULL;
    if (!found && side->type != CU_MEMORYTYPE_DEVICE)
        found = cuda_find_host_memory(call, address);
    if (!found)
        return side->type == CU_MEMORYTYPE_DEVICE ? HOME_DEVICE : HOME_PAGEABLE;
    return found->kind == CUDA_MEMORY_HOST ? HOME_PINNED : HOME_DEVICE;
}

/* Puts the copy on the device's timeline. */
static void take_time(struct cuda_call *call, const struct side *to, const struct side *from, const struct box *box) {
    if (!gpu_has_timeline(call->gpu))
        return;
    enum home target = home_of(call, to), source = home_of(call, from);
    if (target != HOME_DEVICE && source != HOME_DEVICE)
        return; /* the host does it */
    cuda_add_copy(call,
                  target != HOME_DEVICE   ? GPU_WORK_TO_HOST
                  : source != HOME_DEVICE ? GPU_WORK_TO_DEVICE
                                          : GPU_WORK_ON_DEVICE,
                  (uint64_t)box->width * box->height * box->depth);
    if (target == HOME_PAGEABLE || source == HOME_PAGEABLE)
        cuda_host_waits(call, call->end);
}

static CUresult find_places(const struct cuda_call *call, const struct side *to, const struct side *from,
                            const struct box *box, struct place *target, struct place *source) {
    if (!find_place(call, to, box, false, target))
        return cuda_refuse(call, CUDA_ERROR_INVALID_VALUE,
                           "copy: %zu x %zu x %zu bytes at 0x%llx are not all inside the destination", box->width,
                           box->height, box->depth, to->device);
    if (!find_place(call, from, box, true, source))
        return cuda_refuse(call, CUDA_ERROR_INVALID_VALUE,
                           "copy: %zu x %zu x %zu bytes at 0x%llx are not all inside the source", box->width,
                           box->height, box->depth, from->device);
    return CUDA_SUCCESS;
}

static CUresult copy_box(struct cuda_call *call, const struct side *to, const struct side *from,
                         const struct box *box) {
    struct place target, source;
    if (!box->width || !box->height || !box->depth)
        return CUDA_SUCCESS;
    CUresult result = find_places(call, to, from, box, &target, &source);
    if (result != CUDA_SUCCESS)
        return result;
    bool is_filled = home_of(call, to) == HOME_DEVICE && home_of(call, from) == HOME_DEVICE;
    for (size_t z = 0; z < box->depth; z++)
        for (size_t y = 0; y < box->height; y++) {
            unsigned char *line = target.first + z * target.slice + y * target.pitch;
            memmove(line, source.first + z * source.slice + y * source.pitch, box->width);
            gpu_note_written(call->gpu, gpu_device_address(call->gpu, line), box->width);
            if (is_filled)
                gpu_note_filled(call->gpu, gpu_device_address(call->gpu, line), box->width);
        }
    take_time(call, to, from, box);
    return CUDA_SUCCESS;
}

static CUDA_MEMCPY3D describe(const struct side *to, const struct side *from, const struct box *box) {
    return (CUDA_MEMCPY3D){
        .srcXInBytes = from->x,
        .srcY = from->y,
        .srcZ = from->z,
        .srcMemoryType = from->type,
        .srcHost = from->host,
        .srcDevice = from->device,
        .srcArray = from->array,
        .srcPitch = from->pitch,
        .srcHeight = from->height,
        .dstXInBytes = to->x,
        .dstY = to->y,
        .dstZ = to->z,
        .dstMemoryType = to->type,
        .dstHost = (void *)(uintptr_t)to->host,
        .dstDevice = to->device,
        .dstArray = to->array,
        .dstPitch = to->pitch,
        .dstHeight = to->height,
        .WidthInBytes = box->width,
        .Height = box->height,
        .Depth = box->depth,
    };
}

static CUresult copy_later(struct cuda_call *call, const void *copy) { return cuda_copy(call, copy); }

/* Copies now, or when work of the stream that waits has ended. The program may change memory that is not pinned at
 * once, and may use it when the call returns, so such a copy lets that work run first. */
static CUresult copy_now_or_later(struct cuda_call *call, const struct side *to, const struct side *from,
                                  const struct box *box) {
    struct place target, source;
    if (!cuda_must_wait(call))
        return copy_box(call, to, from, box);
    bool can_wait = home_of(call, to) != HOME_PAGEABLE && home_of(call, from) != HOME_PAGEABLE;
    CUresult result = can_wait ? CUDA_SUCCESS : cuda_settle_stream(call);
    if (result != CUDA_SUCCESS || !can_wait)
        return result != CUDA_SUCCESS ? result : copy_box(call, to, from, box);
    if (!box->width || !box->height || !box->depth)
        return CUDA_SUCCESS;
    result = find_places(call, to, from, box, &target, &source);
    CUDA_MEMCPY3D copy = describe(to, from, box);
    if (result == CUDA_SUCCESS)
        cuda_wait_with(call, copy_later, &copy, sizeof(copy));
    return result;
}

/* Copies, or records the copy if the stream is captured. */
static CUresult copy_in(struct cuda_call *call, CUstream stream, const struct side *to, const struct side *from,
                        const struct box *box) {
    struct cuda_capture *capture = cuda_capture_of(call, stream);
    if (!capture)
        return copy_now_or_later(call, to, from, box);
    CUDA_MEMCPY3D copy = describe(to, from, box);
    return cuda_capture_copy(call, capture, &copy);
}

/* ---- One dimension ---------------------------------------------------------------------------------------------- */

static struct side host_side(const void *memory) { return (struct side){.type = CU_MEMORYTYPE_HOST, .host = memory}; }

static struct side device_side(CUdeviceptr address) {
    return (struct side){.type = CU_MEMORYTYPE_DEVICE, .device = address};
}

static struct side any_side(CUdeviceptr address) {
    return (struct side){.type = CU_MEMORYTYPE_UNIFIED, .device = address};
}

static struct side array_side(CUarray array, size_t offset) {
    return (struct side){.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = offset};
}

/* The end of a synchronous copy in the default stream: the program waits for it. Copies within the device do not end
 * so.
 */
static CUresult wait_after(CUresult result) { return result == CUDA_SUCCESS ? cuStreamSynchronize(NULL) : result; }

static CUresult copy_bytes(CUstream stream, struct side to, struct side from, size_t bytes) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    const struct box box = {bytes, 1, 1};
    return copy_in(&call, stream, &to, &from, &box);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_bytes(stream, any_side(to), any_side(from), bytes);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return wait_after(cuMemcpyAsync(to, from, bytes, NULL));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    return copy_bytes(stream, device_side(to), host_side(from), bytes);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
    return wait_after(cuMemcpyHtoDAsync(to, from, bytes, NULL));
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_bytes(stream, host_side(to), device_side(from), bytes);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
    return wait_after(cuMemcpyDtoHAsync(to, from, bytes, NULL));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_bytes(stream, device_side(to), device_side(from), bytes);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return cuMemcpyDtoDAsync(to, from, bytes, NULL);
}

CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
    return copy_bytes(NULL, array_side(to, offset), device_side(from), bytes);
}

CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
    return copy_bytes(NULL, device_side(to), array_side(from, offset), bytes);
}

CUresult cuMemcpyHtoAAsync(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream) {
    return copy_bytes(stream, array_side(to, offset), host_side(from), bytes);
}

CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void *from, size_t bytes) {
    return wait_after(cuMemcpyHtoAAsync(to, offset, from, bytes, NULL));
}

CUresult cuMemcpyAtoHAsync(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
    return copy_bytes(stream, host_side(to), array_side(from, offset), bytes);
}

CUresult cuMemcpyAtoH(void *to, CUarray from, size_t offset, size_t bytes) {
    return wait_after(cuMemcpyAtoHAsync(to, from, offset, bytes, NULL));
}

CUresult cuMemcpyAtoA(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
    return copy_bytes(NULL, array_side(to, to_offset), array_side(from, from_offset), bytes);
}

/* All contexts share the one device's memory. */
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                           CUstream stream) {
    (void)to_context;
    (void)from_context;
    return copy_bytes(stream, device_side(to), device_side(from), bytes);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, NULL);
}

/* ---- Two and three dimensions ----------------------------------------------------------------------------------- */

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    const struct side from = {copy->srcMemoryType,
                              copy->srcHost,
                              copy->srcDevice,
                              copy->srcArray,
                              copy->srcXInBytes,
                              copy->srcY,
                              0,
                              copy->srcPitch,
                              1};
    const struct side to = {copy->dstMemoryType,
                            copy->dstHost,
                            copy->dstDevice,
                            copy->dstArray,
                            copy->dstXInBytes,
                            copy->dstY,
                            0,
                            copy->dstPitch,
                            1};
    const struct box box = {copy->WidthInBytes, copy->Height, 1};
    return copy_in(&call, stream, &to, &from, &box);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) { return wait_after(cuMemcpy2DAsync(copy, NULL)); }

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy) { return cuMemcpy2D(copy); }

CUresult cuda_copy(struct cuda_call *call, const CUDA_MEMCPY3D *copy) {
    const struct side from = {copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray, copy->srcXInBytes,
                              copy->srcY,          copy->srcZ,    copy->srcPitch,  copy->srcHeight};
    const struct side to = {copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray, copy->dstXInBytes,
                            copy->dstY,          copy->dstZ,    copy->dstPitch,  copy->dstHeight};
    const struct box box = {copy->WidthInBytes, copy->Height, copy->Depth};
    return copy_box(call, &to, &from, &box);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!copy || copy->srcLOD || copy->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    return capture ? cuda_capture_copy(&call, capture, copy) : cuda_copy(&call, copy);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy) { return wait_after(cuMemcpy3DAsync(copy, NULL)); }

/* The two structures differ only in the contexts, which take the place of reserved pointers. */
_Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER), "same layout");

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream) {
    if (!copy)
        return cuMemcpy3DAsync(NULL, stream);
    CUDA_MEMCPY3D plain;
    memcpy(&plain, copy, sizeof(plain));
    return cuMemcpy3DAsync(&plain, stream);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy) { return cuMemcpy3DPeerAsync(copy, NULL); }

/* ---- Symbols of per-thread default streams ---------------------------------------------------------------------- */

CUDA_ALIAS(cuMemcpy_ptds, cuMemcpy);
CUDA_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);
CUDA_ALIAS(cuMemcpyPeer_ptds, cuMemcpyPeer);
CUDA_ALIAS(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync);
CUDA_ALIAS(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer);
CUDA_ALIAS(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync);
CUDA_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
CUDA_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
CUDA_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
CUDA_ALIAS(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA_v2);
CUDA_ALIAS(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD_v2);
CUDA_ALIAS(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA_v2);
CUDA_ALIAS(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH_v2);
CUDA_ALIAS(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA_v2);
CUDA_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
CUDA_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2);
CUDA_ALIAS(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2);
CUDA_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);
CUDA_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);
CUDA_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);
CUDA_ALIAS(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync_v2);
CUDA_ALIAS(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync_v2);
CUDA_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2);
CUDA_ALIAS(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2);
