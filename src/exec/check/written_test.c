#include "exec/check/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE 0x100000ull
enum { BYTES = 1 << 16 };

static int set_up(void **state) {
    struct exec_written *written = calloc(1, sizeof *written);
    *state = written;
    return written && exec_written_open(written, BASE, BASE + BYTES) ? 0 : 1;
}

static int tear_down(void **state) {
    exec_written_close(*state);
    free(*state);
    return 0;
}

static void memory_that_is_not_watched_counts_as_written(void **state) {
    struct exec_written *written = *state;
    assert_true(exec_written_any(written, BASE + 100, 4));
    assert_true(exec_written_any(written, BASE - 4, 4));
    assert_true(exec_written_any(written, BASE + BYTES - 2, 4));
}

static void watched_memory_is_unwritten_until_it_is_marked(void **state) {
    struct exec_written *written = *state;
    exec_written_watch(written, BASE + 256, 1000);
    assert_false(exec_written_any(written, BASE + 256, 4));
    assert_true(exec_written_any(written, BASE + 252, 4));
    assert_true(exec_written_any(written, BASE + 1256, 4));
    exec_written_mark(written, BASE + 300, 1);
    assert_false(exec_written_any(written, BASE + 296, 4));
    assert_true(exec_written_any(written, BASE + 300, 4));
    assert_true(exec_written_any(written, BASE + 297, 4)); /* one of the bytes is enough */
    assert_false(exec_written_any(written, BASE + 301, 4));
}

static void memory_that_is_handed_out_again_is_unwritten(void **state) {
    struct exec_written *written = *state;
    exec_written_watch(written, BASE + 512, 256);
    exec_written_watch(written, BASE, 256);
    exec_written_mark(written, BASE, 768);
    exec_written_release(written, BASE);
    exec_written_release(written, BASE + 4); /* none */
    assert_true(exec_written_any(written, BASE, 4));
    exec_written_watch(written, BASE, 128);
    assert_false(exec_written_any(written, BASE, 4));
    assert_true(exec_written_any(written, BASE + 128, 4));
    assert_true(exec_written_any(written, BASE + 512, 4));
}

static void random_ranges_match_an_array(void **state) {
    struct exec_written *written = *state;
    enum { N = 3000 };
    static bool is_written[N];
    exec_written_watch(written, BASE, N);
    srand(1);
    for (int i = 0; i < 20000; i++) {
        uint32_t at = (uint32_t)rand() % N, bytes = 1 + (uint32_t)rand() % (i % 10 ? 16 : 300);
        bytes = bytes < N - at ? bytes : N - at;
        bool expected = false;
        for (uint32_t b = at; b < at + bytes; b++)
            expected |= is_written[b];
        assert_int_equal(exec_written_any(written, BASE + at, bytes), expected);
        if (i % 100 != 0)
            continue;
        exec_written_mark(written, BASE + at, bytes);
        memset(is_written + at, true, bytes);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(memory_that_is_not_watched_counts_as_written),
        TEST(watched_memory_is_unwritten_until_it_is_marked),
        TEST(memory_that_is_handed_out_again_is_unwritten),
        TEST(random_ranges_match_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
