/* Tests of loose round robin. */
#include "sched/fixture.h"

static void the_next_ready_warp_issues(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lrr", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 1, 2, 3, 0);
    /* After 0: 1 is not ready, so 2; after 2 the search wraps at the end. */
    EXPECT_ISSUES(&bench, 0b0101, 2, 0, 2);
    EXPECT_ISSUES(&bench, 0b0100, 2, 2);
    EXPECT_ISSUES(&bench, 0b1111, 3, 0, 1);
    bench_end(&bench);
}

static void the_turn_goes_through_all_128_slots(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lrr", SCHED_MAX_SLOTS);
    struct sched_set all = {{~0ull, ~0ull}};
    for (int i = 0; i < 2 * SCHED_MAX_SLOTS; i++) {
        int slot = bench.ops->pick(bench.state, &bench.view, &all);
        assert_int_equal(slot, i % SCHED_MAX_SLOTS);
        bench.ops->issued(bench.state, &bench.view, (uint32_t)slot);
    }
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_ready_warp_issues),
        cmocka_unit_test(the_turn_goes_through_all_128_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
