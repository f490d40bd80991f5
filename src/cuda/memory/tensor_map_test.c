/* Tensor maps that the driver encodes, and arguments that it refuses. tests/tensor compares random calls with an H200.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cuda.h"
#include "exec/tensor_map.h"

/* The arguments of a good call, with values for more dimensions than it has. Tests change one of them at a time. */
struct call {
    CUtensorMapDataType type;
    cuuint32_t rank;
    uintptr_t address;
    cuuint64_t dims[6], strides[5];
    cuuint32_t box[6], steps[6];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    int lower[3], upper[3]; /* im2col */
    cuuint32_t channels, pixels;
};

static const struct call good = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                 .rank = 3,
                                 .address = 0x1000,
                                 .dims = {100, 50, 3, 1, 1, 1},
                                 .strides = {400, 20000, 60000, 60000, 60000},
                                 .box = {16, 4, 1, 1, 1, 1},
                                 .steps = {1, 2, 1, 1, 1, 1},
                                 .lower = {-1},
                                 .upper = {1},
                                 .channels = 8,
                                 .pixels = 16};
static struct exec_tensor_map map;

static CUresult tiled(const struct call *c) {
    return cuTensorMapEncodeTiled((CUtensorMap *)&map, c->type, c->rank, (void *)c->address, c->dims, c->strides,
                                  c->box, c->steps, c->interleave, c->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  c->fill);
}

static CUresult column(const struct call *c) {
    return cuTensorMapEncodeIm2col((CUtensorMap *)&map, c->type, c->rank, (void *)c->address, c->dims, c->strides,
                                   c->lower, c->upper, c->channels, c->pixels, c->steps, c->interleave, c->swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, c->fill);
}

static void a_tiled_map_has_all_arguments(void **state) {
    (void)state;
    const struct exec_tensor_map expected = {.address = 0x1000,
                                             .stride = {400, 20000},
                                             .last = {99, 49, 2},
                                             .magic = EXEC_TENSOR_MAGIC,
                                             .box = {16, 4, 1},
                                             .step = {1, 2, 1},
                                             .rank = 3,
                                             .type = EXEC_TENSOR_F32};
    memset(&map, 0xff, sizeof map);
    assert_int_equal(tiled(&good), CUDA_SUCCESS);
    assert_memory_equal(&map, &expected, sizeof map);
}

static void a_column_map_has_corners_channels_and_pixels(void **state) {
    (void)state;
    const struct exec_tensor_map expected = {.address = 0x1000,
                                             .stride = {400, 20000},
                                             .last = {99, 49, 2},
                                             .magic = EXEC_TENSOR_MAGIC,
                                             .lower = {-1},
                                             .upper = {1},
                                             .channels = 8,
                                             .pixels = 16,
                                             .step = {1, 2, 1},
                                             .rank = 3,
                                             .type = EXEC_TENSOR_F32,
                                             .is_column = 1};
    assert_int_equal(column(&good), CUDA_SUCCESS);
    assert_memory_equal(&map, &expected, sizeof map);
}

#define ACCEPTED(encode, member, value)                                                                                \
    do {                                                                                                               \
        struct call call = good;                                                                                       \
        call.member = (value);                                                                                         \
        assert_int_equal(encode(&call), CUDA_SUCCESS);                                                                 \
    } while (0)
#define REFUSED(encode, member, value)                                                                                 \
    do {                                                                                                               \
        struct call call = good;                                                                                       \
        call.member = (value);                                                                                         \
        memset(&map, 0x55, sizeof map);                                                                                \
        assert_int_equal(encode(&call), CUDA_ERROR_INVALID_VALUE);                                                     \
        assert_int_equal(map.magic, 0x55555555); /* nothing is written */                                              \
    } while (0)

/* Each limit from both sides. */
static void arguments_have_limits(void **state) {
    (void)state;
    REFUSED(tiled, rank, 0);
    ACCEPTED(tiled, rank, 5);
    REFUSED(tiled, rank, 6);
    REFUSED(tiled, type, (CUtensorMapDataType)EXEC_TENSOR_N_TYPES);
    ACCEPTED(tiled, address, 0x1010);
    REFUSED(tiled, address, 0x1008);
    REFUSED(tiled, dims[1], 0);
    ACCEPTED(tiled, dims[1], UINT64_C(1) << 32);
    REFUSED(tiled, dims[1], (UINT64_C(1) << 32) + 1);
    ACCEPTED(tiled, strides[0], (UINT64_C(1) << 40) - 16);
    REFUSED(tiled, strides[0], UINT64_C(1) << 40);
    REFUSED(tiled, strides[0], 408);
    ACCEPTED(tiled, steps[0], 8);
    REFUSED(tiled, steps[0], 9);
    REFUSED(tiled, steps[2], 0);
    ACCEPTED(tiled, box[1], 256);
    REFUSED(tiled, box[1], 257);
    REFUSED(tiled, box[2], 0);
    REFUSED(tiled, box[0], 6); /* 24 bytes */
}

/* A row of the box is no longer than the swizzle: 64 bytes are 16 floats. */
static void a_row_fits_its_swizzle(void **state) {
    (void)state;
    struct call call = good;
    call.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
    assert_int_equal(tiled(&call), CUDA_SUCCESS);
    assert_int_equal(map.swizzle, 2);
    call.box[0] = 20;
    assert_int_equal(tiled(&call), CUDA_ERROR_INVALID_VALUE);
    call.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    assert_int_equal(tiled(&call), CUDA_SUCCESS);
}

/* Addresses and strides are multiples of an interleaved element, and such a tensor has three dimensions at least. */
static void an_interleave_needs_aligned_dimensions(void **state) {
    (void)state;
    struct call call = good;
    call.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    call.strides[0] = 416;
    assert_int_equal(tiled(&call), CUDA_SUCCESS);
    call.strides[0] = 400;
    assert_int_equal(tiled(&call), CUDA_ERROR_INVALID_VALUE);
    call.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    assert_int_equal(tiled(&call), CUDA_SUCCESS);
    call.rank = 2;
    assert_int_equal(tiled(&call), CUDA_ERROR_INVALID_VALUE);
}

static void only_floating_point_is_filled_with_nan(void **state) {
    (void)state;
    struct call call = good;
    call.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    assert_int_equal(tiled(&call), CUDA_SUCCESS);
    assert_int_equal(map.fill, 1);
    call.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
    assert_int_equal(tiled(&call), CUDA_ERROR_INVALID_VALUE);
}

/* One spatial dimension: corners of 16 bits. The bounding box, 50 - lower + upper pixels wide, is not empty. */
static void a_bounding_box_has_corners_in_range(void **state) {
    (void)state;
    REFUSED(column, rank, 2);
    REFUSED(column, channels, 0);
    ACCEPTED(column, channels, 256);
    REFUSED(column, channels, 260);
    ACCEPTED(column, pixels, 1024);
    REFUSED(column, pixels, 1025);
    ACCEPTED(column, upper[0], 32767);
    REFUSED(column, upper[0], 32768);
    ACCEPTED(column, lower[0], -32768);
    REFUSED(column, lower[0], -32769);
    ACCEPTED(column, upper[0], -50); /* 50 - 50 + 1 */
    REFUSED(column, upper[0], -51);
}

static void an_address_can_be_replaced(void **state) {
    (void)state;
    assert_int_equal(tiled(&good), CUDA_SUCCESS);
    struct exec_tensor_map expected = map;
    expected.address = 0x2010;
    assert_int_equal(cuTensorMapReplaceAddress((CUtensorMap *)&map, (void *)0x2018), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTensorMapReplaceAddress((CUtensorMap *)&map, (void *)0x2010), CUDA_SUCCESS);
    assert_memory_equal(&map, &expected, sizeof map);
    map.magic = 0;
    assert_int_equal(cuTensorMapReplaceAddress((CUtensorMap *)&map, (void *)0x2010), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTensorMapReplaceAddress(NULL, (void *)0x2010), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiled_map_has_all_arguments),
        cmocka_unit_test(a_column_map_has_corners_channels_and_pixels),
        cmocka_unit_test(arguments_have_limits),
        cmocka_unit_test(a_row_fits_its_swizzle),
        cmocka_unit_test(an_interleave_needs_aligned_dimensions),
        cmocka_unit_test(only_floating_point_is_filled_with_nan),
        cmocka_unit_test(a_bounding_box_has_corners_in_range),
        cmocka_unit_test(an_address_can_be_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
