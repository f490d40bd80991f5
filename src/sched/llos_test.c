/* Tests of LLOS. */
#include "sched/fixture.h"

static void warps_that_stalled_before_a_load_guide(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "llos", 4);
    bench.next_load = bench_set(0b1111);
    EXPECT_ISSUES(&bench, 0b1111, 0, 1); /* a load that never stalled has no priority */
    bench_stall(&bench, 3, WAITS_SHORT);
    EXPECT_ISSUES(&bench, 0b0111, 2); /* 3 guides, but cannot issue */
    bench_stall(&bench, 1, WAITS_LONG);
    bench_wake(&bench, 3);
    bench_wake(&bench, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1, 3); /* guiding {1, 3} from slot 0 on */
    EXPECT_ISSUES(&bench, 0b1111, 3, 0); /* filling continues after 2 */
    bench_stall(&bench, 2, WAITS_LONG);
    bench_stall(&bench, 0, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1111, 0, 2); /* guiding {0, 2} after 3 */
    EXPECT_ISSUES(&bench, 0b1111, 1);
    bench_end(&bench);
}

static void other_stalls_do_not_guide(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "llos", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    bench_stall(&bench, 3, WAITS_LONG); /* the next instruction is no load */
    bench.next_load = bench_set(0b0100);
    bench_stall(&bench, 2, WAITS_PENDING); /* not the scoreboard */
    EXPECT_ISSUES(&bench, 0b1111, 1, 2, 3);
    bench_end(&bench);
}

static void a_new_warp_in_a_slot_does_not_guide(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "llos", 3);
    bench.next_load = bench_set(0b100);
    bench_stall(&bench, 2, WAITS_LONG);
    bench_leave(&bench, 2);
    bench_arrive(&bench, 2);
    EXPECT_ISSUES(&bench, 0b111, 0, 1, 2);
    bench_end(&bench);
}

static void a_load_that_issued_with_another_group_no_longer_guides(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "llos", 3);
    bench.next_load = bench_set(0b100);
    bench_stall(&bench, 2, WAITS_LONG);
    bench_wake(&bench, 2);
    bench.next_load = bench_set(0b000); /* it issued as part of another group's bundle */
    EXPECT_ISSUES(&bench, 0b111, 0);
    bench.next_load = bench_set(0b100); /* it reaches the next load without a stall */
    EXPECT_ISSUES(&bench, 0b111, 1, 2);
    bench_end(&bench);
}

static void with_the_signal_a_warp_no_longer_guides_once_it_ends(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "llos:until=signal", 4);
    bench.next_load = bench_set(0b1010);
    bench_stall(&bench, 3, WAITS_LONG);
    bench_stall(&bench, 1, WAITS_SHORT);
    EXPECT_ISSUES(&bench, 0b0101, 0, 2);
    bench_wake(&bench, 1);
    bench_wake(&bench, 3);
    EXPECT_ISSUES(&bench, 0b1111, 3, 0, 1, 2); /* one round robin for all */
    bench_end(&bench);
}

static void polling_from_the_first_begins_every_cycle_with_the_lowest_slot(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "llos:polling=first", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 0);
    EXPECT_ISSUES(&bench, 0b1110, 1, 1);
    bench.next_load = bench_set(0b1100);
    bench_stall(&bench, 3, WAITS_LONG);
    bench_stall(&bench, 2, WAITS_LONG);
    bench_wake(&bench, 3);
    bench_wake(&bench, 2);
    EXPECT_ISSUES(&bench, 0b1111, 2, 3, 0); /* guiding {2, 3} first */
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_that_stalled_before_a_load_guide),
        cmocka_unit_test(other_stalls_do_not_guide),
        cmocka_unit_test(a_new_warp_in_a_slot_does_not_guide),
        cmocka_unit_test(a_load_that_issued_with_another_group_no_longer_guides),
        cmocka_unit_test(with_the_signal_a_warp_no_longer_guides_once_it_ends),
        cmocka_unit_test(polling_from_the_first_begins_every_cycle_with_the_lowest_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
