/* Tests of the active set, plain and with long operations first. */
#include "sched/fixture.h"

static void only_active_warps_issue_and_a_long_wait_frees_a_place(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level-active:active=2", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 1, 0); /* 0 and 1 came first */
    EXPECT_ISSUES(&bench, 0b1100, SCHED_NONE);
    bench_stall(&bench, 0, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1110, 1, 2, 1); /* 2 took 0's place */
    bench_wake(&bench, 0);
    EXPECT_ISSUES(&bench, 0b1001, SCHED_NONE); /* 2 keeps it */
    bench_stall(&bench, 1, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1101, 2, 3, 2); /* after 2, which entered last, comes 3 */
    bench_stall(&bench, 2, WAITS_SHORT);
    EXPECT_ISSUES(&bench, 0b0001, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b1001, 3);
    bench_wake(&bench, 2);
    bench_leave(&bench, 3);
    EXPECT_ISSUES(&bench, 0b0101, 0, 2, 0); /* the free place goes to 0, the only one that does not wait */
    bench_leave(&bench, 2);
    EXPECT_ISSUES(&bench, 0b0011, 0, 0); /* that place stays free: 1 still waits */
    bench_wake(&bench, 1);
    EXPECT_ISSUES(&bench, 0b0011, 1, 0, 1);
    bench_end(&bench);
}

static void warps_at_a_barrier_make_room_for_those_they_wait_for(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level-active:active=2", 4);
    bench_stall(&bench, 0, WAITS_PENDING);
    bench_stall(&bench, 1, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b1100, 2, 3, 2);
    bench_end(&bench);
}

static void a_warp_that_arrives_pending_enters_when_it_wakes(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "two-level-active:active=2", 3);
    sched_add(&bench.pending, 0);
    for (uint32_t slot = 0; slot < 2; slot++)
        bench_arrive(&bench, slot);
    EXPECT_ISSUES(&bench, 0b011, 1, 1);
    bench_wake(&bench, 0);
    EXPECT_ISSUES(&bench, 0b011, 0, 1);
    bench_end(&bench);
}

static void eight_warps_are_active_by_default(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level-active", 16);
    EXPECT_ISSUES(&bench, 0xffff, 0, 1, 2, 3, 4, 5, 6, 7, 0);
    bench_end(&bench);
}

static void long_operations_go_first_inside_the_set(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level-opt:active=4", 6);
    bench.next_long = bench_set(0b111100);
    EXPECT_ISSUES(&bench, 0b111111, 2, 3, 2); /* 4 and 5 are not active */
    EXPECT_ISSUES(&bench, 0b110011, 0, 1, 0);
    bench.next_long = bench_set(0);
    EXPECT_ISSUES(&bench, 0b111111, 1, 2, 3, 0);
    EXPECT_ISSUES(&bench, 0b110000, SCHED_NONE);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_active_warps_issue_and_a_long_wait_frees_a_place),
        cmocka_unit_test(warps_at_a_barrier_make_room_for_those_they_wait_for),
        cmocka_unit_test(a_warp_that_arrives_pending_enters_when_it_wakes),
        cmocka_unit_test(eight_warps_are_active_by_default),
        cmocka_unit_test(long_operations_go_first_inside_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
