/* Tests of hashes: every bit and the order of bytes count, and a hash can continue another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"

static void every_bit_of_every_length_changes_the_hash(void **state) {
    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        unsigned char bytes[40] = {0};
        uint64_t hash = base_hash(bytes, n, 0);
        assert_true(hash != base_hash(bytes, n - 1, 0));
        for (size_t bit = 0; bit < 8 * n; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_true(hash != base_hash(bytes, n, 0));
            bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
}

static void order_and_what_came_before_count(void **state) {
    (void)state;
    assert_true(base_hash("ab", 2, 0) != base_hash("ba", 2, 0));
    assert_true(base_hash("0123456789abcdef", 16, 0) != base_hash("89abcdef01234567", 16, 0));
    assert_true(base_hash("b", 1, base_hash("a", 1, 0)) != base_hash("a", 1, base_hash("b", 1, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_of_every_length_changes_the_hash),
        cmocka_unit_test(order_and_what_came_before_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
