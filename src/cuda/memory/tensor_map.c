/* Tensor maps: cuTensorMapEncodeTiled and others.
 *
 * The driver API reference manual lists the requirements on their arguments. Those that the driver of an H200 checks
 * are checked here (tests/tensor compares 1500 random calls). It does not check that an interleave of 32 bytes has a
 * swizzle of 32 bytes. With an interleave the spatial dimensions come first, and without one after the channels. */
#include <string.h>

#include "cuda/internal.h"
#include "exec/tensor_map.h"

struct arguments {
    CUtensorMap *map;
    CUtensorMapDataType type;
    cuuint32_t rank;
    uint64_t address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
};

/* Checks and encodes what both kinds of maps have. `inner`: elements of the box in the first dimension. */
static bool encode(const struct arguments *a, uint32_t inner, struct exec_tensor_map *map) {
    const unsigned bytes = exec_tensor_type_bytes((unsigned)a->type);
    const uint64_t unit = a->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    if (!a->map || !a->dims || !a->steps || (a->rank > 1 && !a->strides) || a->rank < 1 || a->rank > EXEC_TENSOR_DIMS)
        return false;
    if ((unsigned)a->type >= EXEC_TENSOR_N_TYPES || (unsigned)a->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)a->swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        (unsigned)a->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return false;
    if ((a->interleave && a->rank < 3) || a->address % unit || (a->fill && a->type < CU_TENSOR_MAP_DATA_TYPE_FLOAT16))
        return false;
    if (inner * bytes % 16 || (!a->interleave && a->swizzle && inner * bytes > 16u << a->swizzle))
        return false;
    *map = (struct exec_tensor_map){.address = a->address,
                                    .magic = EXEC_TENSOR_MAGIC,
                                    .rank = (uint8_t)a->rank,
                                    .type = (uint8_t)a->type,
                                    .interleave = (uint8_t)a->interleave,
                                    .swizzle = (uint8_t)a->swizzle,
                                    .fill = (uint8_t)a->fill};
    for (unsigned i = 0; i < a->rank; i++) {
        if (!a->dims[i] || a->dims[i] > UINT64_C(1) << 32 || !a->steps[i] || a->steps[i] > 8)
            return false;
        map->last[i] = (uint32_t)(a->dims[i] - 1);
        map->step[i] = (uint8_t)a->steps[i];
    }
    for (unsigned i = 0; i + 1 < a->rank; i++) {
        if (a->strides[i] % unit || a->strides[i] >= UINT64_C(1) << 40)
            return false;
        map->stride[i] = a->strides[i];
    }
    return true;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensor_map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    struct exec_tensor_map map;
    const struct arguments arguments = {tensor_map, type,    rank, (uintptr_t)address, dims, strides, steps,
                                        interleave, swizzle, fill};
    (void)promotion; /* a hint */
    if (!box || !encode(&arguments, box[0], &map))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < rank; i++) {
        if (!box[i] || box[i] > 256)
            return CUDA_ERROR_INVALID_VALUE;
        map.box[i] = (uint16_t)box[i];
    }
    memcpy(tensor_map, &map, sizeof map);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensor_map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                 const cuuint64_t *dims, const cuuint64_t *strides, const int *lower, const int *upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    static const int most[] = {32768, 128, 16}; /* of a corner, by the number of spatial dimensions */
    struct exec_tensor_map map;
    const struct arguments arguments = {tensor_map, type,    rank, (uintptr_t)address, dims, strides, steps,
                                        interleave, swizzle, fill};
    (void)promotion;
    if (rank < 3 || !lower || !upper || !channels || channels > 256 || !pixels || pixels > 1024 ||
        !encode(&arguments, channels, &map))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i + 2 < rank; i++) {
        int limit = most[rank - 3];
        int64_t dim = (uint32_t)dims[interleave ? i : i + 1]; /* 2^32 counts as 0 */
        if (lower[i] < -limit || lower[i] >= limit || upper[i] < -limit || upper[i] >= limit ||
            dim + upper[i] - lower[i] < 1)
            return CUDA_ERROR_INVALID_VALUE;
        map.lower[i] = (int16_t)lower[i];
        map.upper[i] = (int16_t)upper[i];
    }
    map.is_column = true;
    map.channels = (uint16_t)channels;
    map.pixels = (uint16_t)pixels;
    memcpy(tensor_map, &map, sizeof map);
    return CUDA_SUCCESS;
}

/* Only devices of compute capability 10.0 and later have such maps. */
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensor_map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                     const cuuint64_t *dims, const cuuint64_t *strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
                                     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
    (void)tensor_map, (void)type, (void)rank, (void)address, (void)dims, (void)strides, (void)lower, (void)upper;
    (void)channels, (void)pixels, (void)steps, (void)interleave, (void)mode, (void)swizzle, (void)promotion, (void)fill;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *tensor_map, void *address) {
    struct exec_tensor_map map;
    if (!tensor_map)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&map, tensor_map, sizeof map);
    if (map.magic != EXEC_TENSOR_MAGIC || (uintptr_t)address % (map.interleave == 2 ? 32 : 16))
        return CUDA_ERROR_INVALID_VALUE;
    map.address = (uintptr_t)address;
    memcpy(tensor_map, &map, sizeof map);
    return CUDA_SUCCESS;
}
