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

/* Blocks in one place have the same cycles: nothing of an earlier one is left in its scoreboard. */
static void a_place_is_used_again(void **state) {
    (void)state;
    static const char *const one[] = {"sm.blocks=1", NULL};
    const char *sum =
        ".shared .b32 s[32];\nld.shared.u32 %r1, [s];\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [s], %r2;\nret;";
    uint64_t alone = fixture_run(one, sum, 1, 1).cycles;
    assert_int_equal(fixture_run(one, sum, 5, 1).cycles, 5 * alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_starts_when_there_is_room),
        cmocka_unit_test(threads_limit_the_blocks),
        cmocka_unit_test(a_place_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
