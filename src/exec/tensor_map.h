/* Tensor maps: how a box of a tensor lies in global and in shared memory. The driver encodes them, and the instructions
 * of memory/tensor.c read and change them. NVIDIA does not publish the bits of its 128 bytes; these are Heddle's own.
 */
#pragma once

#include <stdint.h>

enum { EXEC_TENSOR_MAP_BYTES = 128, EXEC_TENSOR_DIMS = 5, EXEC_TENSOR_MAGIC = 0x7e5d0a1bu };

/* In the order of CUtensorMapDataType. */
enum exec_tensor_type {
    EXEC_TENSOR_U8,
    EXEC_TENSOR_U16,
    EXEC_TENSOR_U32,
    EXEC_TENSOR_S32,
    EXEC_TENSOR_U64,
    EXEC_TENSOR_S64,
    EXEC_TENSOR_F16,
    EXEC_TENSOR_F32,
    EXEC_TENSOR_F64,
    EXEC_TENSOR_BF16,
    EXEC_TENSOR_F32_FTZ,
    EXEC_TENSOR_TF32,
    EXEC_TENSOR_TF32_FTZ,
    EXEC_TENSOR_N_TYPES
};

struct exec_tensor_map {
    uint64_t address;
    uint64_t stride[EXEC_TENSOR_DIMS - 1]; /* bytes, of dimensions 1 to 4 */
    uint32_t last[EXEC_TENSOR_DIMS];       /* the tensor's last index in each dimension */
    uint32_t magic;
    uint16_t box[EXEC_TENSOR_DIMS];
    int16_t lower[3], upper[3]; /* of the bounding box of im2col */
    uint16_t channels, pixels;
    uint8_t step[EXEC_TENSOR_DIMS]; /* from one element of the box to the next */
    uint8_t rank, type;
    uint8_t interleave, swizzle, fill; /* the driver's values; an interleaved element has 16 or 32 bytes */
    uint8_t is_column;                 /* im2col */
    uint8_t spare[EXEC_TENSOR_MAP_BYTES - 101];
};
_Static_assert(sizeof(struct exec_tensor_map) == EXEC_TENSOR_MAP_BYTES, "the size of a CUtensorMap");

/* Returns the bytes of an element. */
static inline uint32_t exec_tensor_type_bytes(unsigned type) {
    static const uint8_t bytes[EXEC_TENSOR_N_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < EXEC_TENSOR_N_TYPES ? bytes[type] : 1;
}
