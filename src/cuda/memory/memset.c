/* Fills device memory with a value of 1, 2 or 4 bytes. */
#include "cuda/internal.h"

#include <string.h>

static void fill_line(unsigned char *line, uint32_t value, unsigned bytes, size_t count) {
    if (bytes == 1) {
        memset(line, (int)(value & 0xff), count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(line + i * bytes, &value, bytes); /* the low bytes: hosts of this project are little-endian */
}

/* Finds the memory to fill; fill has at least one element. */
static CUresult find_lines(const struct cuda_call *call, const CUDA_MEMSET_NODE_PARAMS *fill, unsigned char **first,
                           size_t *line_bytes) {
    unsigned bytes = fill->elementSize;
    size_t line, total;
    if (fill->dst % bytes || __builtin_mul_overflow(fill->width, bytes, &line))
        return CUDA_ERROR_INVALID_VALUE;
    if (fill->height > 1 && (fill->pitch < line || fill->pitch % bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(fill->height - 1, fill->pitch, &total) || __builtin_add_overflow(total, line, &total))
        return CUDA_ERROR_INVALID_VALUE;
    *first = gpu_host(call->gpu, fill->dst, total);
    *line_bytes = line;
    return *first ? CUDA_SUCCESS
                  : cuda_refuse(call, CUDA_ERROR_INVALID_VALUE,
                                "memset: %zu bytes at 0x%llx are not inside one allocation", total, fill->dst);
}

CUresult cuda_fill(struct cuda_call *call, const CUDA_MEMSET_NODE_PARAMS *fill) {
    unsigned char *first;
    size_t line;
    if (!fill->width || !fill->height)
        return CUDA_SUCCESS;
    CUresult result = find_lines(call, fill, &first, &line);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t y = 0; y < fill->height; y++) {
        fill_line(first + y * fill->pitch, fill->value, fill->elementSize, fill->width);
        gpu_note_written(call->gpu, fill->dst + y * fill->pitch, line);
        gpu_note_filled(call->gpu, fill->dst + y * fill->pitch, line);
    }
    cuda_add_copy(call, GPU_WORK_FILL, (uint64_t)line * fill->height);
    return CUDA_SUCCESS;
}

static CUresult fill_later(struct cuda_call *call, const void *fill) { return cuda_fill(call, fill); }

/* Fills now, or when work of the stream that waits has ended. */
static CUresult fill_now_or_later(struct cuda_call *call, const CUDA_MEMSET_NODE_PARAMS *fill) {
    unsigned char *first;
    size_t line;
    if (!fill->width || !fill->height || !cuda_must_wait(call))
        return cuda_fill(call, fill);
    CUresult result = find_lines(call, fill, &first, &line);
    if (result == CUDA_SUCCESS)
        cuda_wait_with(call, fill_later, fill, sizeof(*fill));
    return result;
}

static CUresult fill(CUstream stream, CUdeviceptr to, size_t pitch, uint32_t value, unsigned bytes, size_t width,
                     size_t height) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    const CUDA_MEMSET_NODE_PARAMS parameters = {to, pitch, value, bytes, width, height};
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    return capture ? cuda_capture_fill(&call, capture, &parameters) : fill_now_or_later(&call, &parameters);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) { return fill(NULL, to, 0, value, 1, count, 1); }

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
    return fill(NULL, to, 0, value, 2, count, 1);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) { return fill(NULL, to, 0, value, 4, count, 1); }

CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
    return fill(NULL, to, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
    return fill(NULL, to, pitch, value, 2, width, height);
}

CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
    return fill(NULL, to, pitch, value, 4, width, height);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(stream, to, 0, value, 1, count, 1);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return fill(stream, to, 0, value, 2, count, 1);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return fill(stream, to, 0, value, 4, count, 1);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
    return fill(stream, to, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
    return fill(stream, to, pitch, value, 2, width, height);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
    return fill(stream, to, pitch, value, 4, width, height);
}

CUDA_ALIAS(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
CUDA_ALIAS(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
CUDA_ALIAS(cuMemsetD32_v2_ptds, cuMemsetD32_v2);
CUDA_ALIAS(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2);
CUDA_ALIAS(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2);
CUDA_ALIAS(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2);
CUDA_ALIAS(cuMemsetD8Async_ptsz, cuMemsetD8Async);
CUDA_ALIAS(cuMemsetD16Async_ptsz, cuMemsetD16Async);
CUDA_ALIAS(cuMemsetD32Async_ptsz, cuMemsetD32Async);
CUDA_ALIAS(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async);
CUDA_ALIAS(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async);
CUDA_ALIAS(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async);
