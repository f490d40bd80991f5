/* Blocks on an SM: how many run at once, and their places. */
#include "sm/fixture.h"

/* A block alone issues in 1, 10 and 11. */
static const char body[] = "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nret;";

/* One at a time: each block starts in the cycle in which the one before it ends. Two at once take about half as long.
 */
static void a_block_starts_when_there_is_room(void **state) {
    (void)state;
    static const char *const one[] = {"sm.blocks=1", NULL}, *const two[] = {"sm.blocks=2", NULL};
    struct stats_counters counters = fixture_run(one, body, 4, 32);
    assert_int_equal(counters.cycles, 4 * 11);
    assert_int_equal(counters.blocks, 4);
    assert_int_equal(counters.threads, 4 * 32);
    assert_in_range(fixture_run(two, body, 4, 32).cycles, 2 * 11, 3 * 11);
    assert_int_equal(fixture_run(two, body, 1, 32).cycles, 11);
}

/* Two warps fit: one block of two, or two blocks of one. */
static void threads_limit_the_blocks(void **state) {
    (void)state;
    static const char *const small[] = {"sm.threads=64", "sm.threads_per_block=64", "sm.blocks=8", NULL};
    uint64_t wide = fixture_run(small, body, 1, 64).cycles;
    assert_int_equal(fixture_run(small, body, 2, 32).cycles, wide);
    assert_int_equal(fixture_run(small, body, 3, 64).cycles, 3 * wide);
}

/* A block ends in 11, while its load is in flight. The next block in its place loads to the same register, and waits
 * neither for that load nor for its answer. */
static void a_place_is_used_again(void **state) {
    (void)state;
    static const char *const one[] = {"sm.blocks=1", NULL};
    const char *load = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nret;";
    assert_int_equal(fixture_run(one, load, 1, 32).cycles, 11);
    assert_int_equal(fixture_run(one, load, 8, 32).cycles, 8 * 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_starts_when_there_is_room),
        cmocka_unit_test(threads_limit_the_blocks),
        cmocka_unit_test(a_place_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
