/* Tests of byte arrays: bytes come back in the order they were written, and a read past the end is detected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"

static void what_was_put_is_taken_in_order(void **state) {
    (void)state;
    struct base_bytes bytes = {0};
    for (uint64_t i = 0; i < 1000; i++)
        base_bytes_put_u64(&bytes, i * i);
    base_bytes_put(&bytes, "end", 3);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(base_bytes_take_u64(&bytes), i * i);
    assert_memory_equal(base_bytes_skip(&bytes, 3), "end", 3);
    assert_false(bytes.is_short);
    base_bytes_free(&bytes);
}

static void a_read_past_the_end_returns_zeros_from_then_on(void **state) {
    (void)state;
    struct base_bytes bytes = {0};
    base_bytes_put(&bytes, "\1\1\1\1", 4);
    assert_int_equal(base_bytes_take_u64(&bytes), 0);
    assert_true(bytes.is_short);
    assert_null(base_bytes_skip(&bytes, 1));
    base_bytes_free(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_taken_in_order),
        cmocka_unit_test(a_read_past_the_end_returns_zeros_from_then_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
