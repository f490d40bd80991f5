/* Tests of the descriptors of wgmma: the places of elements that an H200 read (docs/validation.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/matrix/matrix.h"

enum { NONE, WIDTH_128, WIDTH_64, WIDTH_32 };

static uint64_t descriptor(unsigned mode, unsigned leading, unsigned stride, unsigned start, unsigned base) {
    return start / 16 | (uint64_t)(leading / 16) << 16 | (uint64_t)(stride / 16) << 32 | (uint64_t)base << 49 |
           (uint64_t)mode << 62;
}

static void lines_without_a_swizzle_are_in_core_matrices(void **state) {
    (void)state;
    uint64_t d = descriptor(NONE, 1024, 4096, 0, 0);
    assert_int_equal(exec_descriptor_address(d, false, 3, 0), 48);
    assert_int_equal(exec_descriptor_address(d, false, 3, 16), 48 + 1024);
    assert_int_equal(exec_descriptor_address(d, false, 11, 16), 48 + 1024 + 4096);
    assert_int_equal(exec_descriptor_address(d, true, 8, 2 * 3), 48 + 4096); /* line 8, k = 3 */
    assert_int_equal(exec_descriptor_address(d, true, 0, 2 * 11), 48 + 1024);
}

static void a_swizzle_exchanges_the_chunks_of_a_line(void **state) {
    (void)state;
    uint64_t d = descriptor(WIDTH_128, 16, 1024, 0, 0);
    assert_int_equal(exec_descriptor_address(d, false, 0, 16), 16);
    assert_int_equal(exec_descriptor_address(d, false, 5, 16), 5 * 128 + (1 ^ 5) * 16);
    assert_int_equal(exec_descriptor_address(d + 2, false, 5, 16), 5 * 128 + (3 ^ 5) * 16); /* 32 bytes further */
    assert_int_equal(exec_descriptor_address(descriptor(WIDTH_64, 16, 512, 0, 0), false, 5, 16),
                     5 * 64 + (1 ^ 2) * 16); /* of 128 bytes, 5 * 64 is in the third */
    assert_int_equal(exec_descriptor_address(descriptor(WIDTH_32, 16, 256, 0, 0), false, 5, 16), 5 * 32);
}

static void transposed_lines_are_as_wide_as_the_swizzle(void **state) {
    (void)state;
    uint64_t d = descriptor(WIDTH_128, 4096, 1024, 0, 0);
    assert_int_equal(exec_descriptor_address(d, true, 8, 2 * 3), 3 * 128 + (1 ^ 3) * 16);
    assert_int_equal(exec_descriptor_address(d, true, 64, 2 * 11), 4096 + 1024 + 3 * 128 + 3 * 16);
}

static void the_base_offset_moves_the_pattern(void **state) {
    (void)state;
    assert_int_equal(exec_descriptor_address(descriptor(WIDTH_128, 16, 1024, 384, 3), false, 0, 0), 384);
    assert_int_equal(exec_descriptor_address(descriptor(WIDTH_128, 16, 1024, 384, 0), false, 0, 0), 384 + 3 * 16);
    assert_int_equal(exec_descriptor_address(descriptor(WIDTH_128, 16, 1024, 128, 3), false, 0, 0),
                     128 + 6 * 16); /* 1 - 3, of eight */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_without_a_swizzle_are_in_core_matrices),
        cmocka_unit_test(a_swizzle_exchanges_the_chunks_of_a_line),
        cmocka_unit_test(transposed_lines_are_as_wide_as_the_swizzle),
        cmocka_unit_test(the_base_offset_moves_the_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
