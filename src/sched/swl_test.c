/* Tests of static warp limiting. Slots arrive in the order of their numbers, so slot 0 is the oldest. */
#include "sched/fixture.h"

static void only_the_oldest_warps_issue_and_the_greedy_one_goes_first(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "swl:warps=2", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 0);
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1); /* greedy */
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    bench_end(&bench);
}

static void a_wait_for_memory_or_at_a_fence_keeps_the_place(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "swl:warps=2", 4);
    bench_stall(&bench, 0, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    sched_add(&bench.pending, 1);
    bench.ops->stall(bench.state, &bench.view, 1, true); /* a fence: pending, and waits for memory */
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    bench_end(&bench);
}

static void a_barrier_frees_a_place_which_its_new_owner_keeps(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "swl:warps=2", 4);
    bench_stall(&bench, 0, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b1100, 2);
    bench_wake(&bench, 0);
    EXPECT_ISSUES(&bench, 0b1001, SCHED_NONE); /* 1 and 2 have the places */
    bench_leave(&bench, 1);
    EXPECT_ISSUES(&bench, 0b1001, 0); /* the oldest outside gets the place */
    EXPECT_ISSUES(&bench, 0b1000, SCHED_NONE);
    bench_end(&bench);
}

static void without_patience_a_warp_gives_its_place_up(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "swl:warps=1,patience=3", 3);
    EXPECT_ISSUES(&bench, 0b111, 0, 0, 0, 1, 1, 1, 0);
    bench_end(&bench);
    bench_start_full(&bench, "swl:warps=1,patience=0", 2);
    for (int i = 0; i < 70000; i++)
        assert_int_equal(bench_issue(&bench, 0b11), 0);
    bench_end(&bench);
}

static void the_limit_is_that_of_the_sm(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "swl:warps=3", 6);
    bench.view.n_schedulers = 2; /* slots 0, 2, 4 and 1, 3, 5 */
    for (uint32_t slot = 0; slot < 6; slot++)
        bench_arrive(&bench, slot);
    EXPECT_ISSUES(&bench, 0b010101, 0);
    EXPECT_ISSUES(&bench, 0b101010, 1);
    EXPECT_ISSUES(&bench, 0b010100, 2);
    EXPECT_ISSUES(&bench, 0b101000, SCHED_NONE); /* 0, 1 and 2 have the places */
    EXPECT_ISSUES(&bench, 0b010101, 2);          /* each scheduler is greedy by itself */
    EXPECT_ISSUES(&bench, 0b101010, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_oldest_warps_issue_and_the_greedy_one_goes_first),
        cmocka_unit_test(a_wait_for_memory_or_at_a_fence_keeps_the_place),
        cmocka_unit_test(a_barrier_frees_a_place_which_its_new_owner_keeps),
        cmocka_unit_test(without_patience_a_warp_gives_its_place_up),
        cmocka_unit_test(the_limit_is_that_of_the_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
