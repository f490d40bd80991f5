/* Tests of strict round robin. */
#include "sched/fixture.h"

static void the_turn_waits_for_its_warp(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "srr", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 1, 2, 3, 0);
    /* It is 1's turn: the others wait with it, though ready. */
    EXPECT_ISSUES(&bench, 0b1101, SCHED_NONE, SCHED_NONE, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b0010, 1);
    EXPECT_ISSUES(&bench, 0b0010, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b1111, 2, 3);
    bench_end(&bench);
}

static void the_turn_skips_warps_that_have_left_or_are_pending(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "srr", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    bench_stall(&bench, 1, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1101, SCHED_NONE); /* a long wait holds the turn ... */
    bench_stall(&bench, 1, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b1101, 2); /* ... a barrier does not: the others must reach it */
    bench_leave(&bench, 3);
    EXPECT_ISSUES(&bench, 0b0101, 0, 2);
    bench_wake(&bench, 1);
    bench_arrive(&bench, 3);
    EXPECT_ISSUES(&bench, 0b1111, 3, 0, 1, 2);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_turn_waits_for_its_warp),
        cmocka_unit_test(the_turn_skips_warps_that_have_left_or_are_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
