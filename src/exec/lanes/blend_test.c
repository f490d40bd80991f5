/* Writing back the active lanes of a result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exec/lanes/lanes.h"

static const uint32_t masks[] = {0, 1, 0x80000000, 0x55555555, 0xffff0000, 0x12345678, 0xffffffff};
enum { N_MASKS = sizeof masks / sizeof masks[0] };

#define TEST_WIDTH(bits)                                                                                               \
    static void a_##bits##_bit_blend_replaces_exactly_the_masked_lanes(void **state) {                                 \
        (void)state;                                                                                                   \
        for (unsigned k = 0; k < N_MASKS; k++) {                                                                       \
            uint##bits##_t d[EXEC_LANES], s[EXEC_LANES];                                                               \
            for (unsigned i = 0; i < EXEC_LANES; i++) {                                                                \
                d[i] = (uint##bits##_t)(1000 + i);                                                                     \
                s[i] = (uint##bits##_t) ~(uint64_t)i;                                                                  \
            }                                                                                                          \
            EXEC_NAME(exec_blend_##bits)(d, s, masks[k]);                                                              \
            for (unsigned i = 0; i < EXEC_LANES; i++)                                                                  \
                assert_true(d[i] == (masks[k] >> i & 1 ? s[i] : (uint##bits##_t)(1000 + i)));                          \
        }                                                                                                              \
    }
TEST_WIDTH(16)
TEST_WIDTH(32)
TEST_WIDTH(64)

static void a_predicate_blend_replaces_exactly_the_masked_bits(void **state) {
    (void)state;
    uint32_t d = 0x0f0f0f0f, s = 0x33333333;
    EXEC_NAME(exec_blend_1)(&d, &s, 0x0000ffff);
    assert_int_equal(d, 0x0f0f3333);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_16_bit_blend_replaces_exactly_the_masked_lanes),
        cmocka_unit_test(a_32_bit_blend_replaces_exactly_the_masked_lanes),
        cmocka_unit_test(a_64_bit_blend_replaces_exactly_the_masked_lanes),
        cmocka_unit_test(a_predicate_blend_replaces_exactly_the_masked_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
