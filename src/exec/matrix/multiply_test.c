/* Tests of products of dense matrices: the bits that sums keep, their rounding, and the elements of a sparse row.
 * tests/matrix compares whole instructions with a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "exec/float_bits.h"
#include "exec/matrix/matrix.h"

static struct ptx_matrix shape;
static struct ptx_instruction instruction;
static struct exec_dense dense;

/* m16n8 with k along both sides; all matrices are 0. */
static struct exec_matrix matrix_of(unsigned k, enum ptx_element factors, enum ptx_element sums) {
    memset(&dense, 0, sizeof dense);
    dense.n = 8;
    shape = (struct ptx_matrix){.k = (uint16_t)k};
    instruction = (struct ptx_instruction){.opcode = PTX_OP_MMA, .matrix = &shape};
    struct exec_matrix matrix = {.insn = &instruction, .m = 16, .n = 8, .k = (uint16_t)k};
    matrix.element[PTX_MATRIX_A] = matrix.element[PTX_MATRIX_B] = factors;
    matrix.element[PTX_MATRIX_C] = matrix.element[PTX_MATRIX_D] = sums;
    matrix.sum_products = exec_level_table()->sum_products;
    return matrix;
}

static void set_half(unsigned char *line, unsigned at, float value) {
    ((uint16_t *)line)[at] = exec_float_to_half(value);
}

/* Multiplies the first row by the first column, in f16 with sums in f32. */
static float sum_of(unsigned n, const float *a, const float *b, float c) {
    struct exec_matrix matrix = matrix_of(16, PTX_ELEMENT_F16, PTX_ELEMENT_F32);
    for (unsigned x = 0; x < n; x++) {
        set_half(dense.a, x, a[x]);
        set_half(dense.b, x, b[x]);
    }
    ((float *)dense.c)[0] = c;
    exec_multiply_float(&matrix, &dense);
    return ((const float *)dense.d)[0];
}

static void terms_are_cut_off_25_bits_below_the_largest(void **state) {
    (void)state;
    const float a[] = {1, 1, 0x1p-12f}, b[] = {1, -1, 0x1p-12f}, c[] = {1, -1, 0x1p-13f};
    assert_true(sum_of(3, a, b, 0) == 0x1p-24f);
    assert_true(sum_of(3, (const float[]){1, 1, 0x1p-13f}, c, 0) == 0); /* 2^-26 is lost before the ones cancel */
}

static void a_sum_is_cut_off_to_single_precision(void **state) {
    (void)state;
    const float a[] = {1, 0x1p-12f}, b[] = {1, 0x1p-12f};
    assert_true(sum_of(2, a, b, 0) == 1); /* 1 + 2^-24 */
    assert_true(sum_of(2, a, b, 0x1p-24f) == 1 + 0x1p-23f);
    assert_true(sum_of(2, (const float[]){-1, -0x1p-12f}, b, 0) == -1);
}

static void infinities_of_both_signs_are_not_a_number(void **state) {
    (void)state;
    const float infinity = HUGE_VALF, a[] = {1, 1}, both[] = {infinity, -infinity}, one[] = {infinity, 3};
    assert_int_equal(exec_float_bits(sum_of(2, a, both, 0)), 0x7fffffff);
    assert_true(sum_of(2, a, one, 0) == infinity);
    assert_int_equal(exec_float_bits(sum_of(2, (const float[]){0, 1}, one, 0)), 0x7fffffff);
}

static void halves_round_to_nearest(void **state) {
    (void)state;
    struct exec_matrix matrix = matrix_of(16, PTX_ELEMENT_F16, PTX_ELEMENT_F16);
    set_half(dense.a, 0, 1);
    set_half(dense.b, 0, 1);
    set_half(dense.a, 1, 0x1p-5f);
    set_half(dense.b, 1, 0x1.8p-6f); /* 1 + 1.5 * 2^-11 */
    exec_multiply_float(&matrix, &dense);
    assert_int_equal(((const uint16_t *)dense.d)[0], 0x3c01);
}

static void integer_sums_wrap_or_saturate(void **state) {
    (void)state;
    struct exec_matrix matrix = matrix_of(32, PTX_ELEMENT_S8, PTX_ELEMENT_S32);
    dense.a[0] = 0x80;
    dense.b[0] = 0x7f; /* -128 * 127 */
    ((int32_t *)dense.c)[0] = INT32_MIN + 1;
    exec_multiply_integer(&matrix, &dense);
    assert_int_equal(((const int32_t *)dense.d)[0], INT32_MAX - 16254);
    matrix.saturates = true;
    exec_multiply_integer(&matrix, &dense);
    assert_int_equal(((const int32_t *)dense.d)[0], INT32_MIN);
}

static void bits_are_counted_after_their_operation(void **state) {
    (void)state;
    struct exec_matrix matrix = matrix_of(128, PTX_ELEMENT_B1, PTX_ELEMENT_S32);
    ((uint32_t *)dense.a)[0] = 0xf0;
    ((uint32_t *)dense.b)[0] = 0x3c;
    ((uint32_t *)dense.c)[0] = 100;
    exec_multiply_bits(&matrix, &dense);
    assert_int_equal(((const uint32_t *)dense.d)[0], 104);
    matrix.is_and = true;
    exec_multiply_bits(&matrix, &dense);
    assert_int_equal(((const uint32_t *)dense.d)[0], 102);
}

static void doubles_are_added_one_after_the_other(void **state) {
    (void)state;
    struct exec_matrix matrix = matrix_of(4, PTX_ELEMENT_F64, PTX_ELEMENT_F64);
    const double a[] = {0x1p-53, 0x1p-53, 1, 0}; /* each of the first two alone is half a last place of 1 */
    for (unsigned x = 0; x < 4; x++) {
        ((double *)dense.a)[x] = a[x];
        ((double *)dense.b)[x] = 1;
    }
    exec_multiply_double(&matrix, &dense);
    assert_true(((const double *)dense.d)[0] == 1 + 0x1p-52);
    ((double *)dense.c)[0] = 1; /* now each of them is lost */
    exec_multiply_double(&matrix, &dense);
    assert_true(((const double *)dense.d)[0] == 2);
}

static void metadata_say_where_the_elements_of_a_sparse_row_are(void **state) {
    (void)state;
    struct exec_matrix matrix = matrix_of(16, PTX_ELEMENT_F16, PTX_ELEMENT_F32);
    uint8_t at[8];
    dense.metadata[0] = 0x9d4e; /* of row 0: 2 and 3, 0 and 1, 1 and 3, 1 and 2 of each four */
    exec_matrix_find_elements(&matrix, &dense, 0, at);
    const uint8_t expected[] = {2, 3, 4, 5, 9, 11, 13, 14};
    assert_memory_equal(at, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_cut_off_25_bits_below_the_largest),
        cmocka_unit_test(a_sum_is_cut_off_to_single_precision),
        cmocka_unit_test(infinities_of_both_signs_are_not_a_number),
        cmocka_unit_test(halves_round_to_nearest),
        cmocka_unit_test(integer_sums_wrap_or_saturate),
        cmocka_unit_test(bits_are_counted_after_their_operation),
        cmocka_unit_test(doubles_are_added_one_after_the_other),
        cmocka_unit_test(metadata_say_where_the_elements_of_a_sparse_row_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
