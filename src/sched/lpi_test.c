/* Tests of LPI: the queue it builds, and when. */
#include "sched/fixture.h"

static void without_blocked_warps_a_pass_goes_by_age(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "lpi", 4);
    static const uint64_t age[] = {13, 10, 12, 11};
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench.slot[slot].age = age[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b1111, 1, 3, 2, 0, 1, 3);
    /* Reached but not ready: 2 waits for the next pass. */
    EXPECT_ISSUES(&bench, 0b1011, 0, 1);
    EXPECT_ISSUES(&bench, 0b1111, 3, 2, 0);
    bench_leave(&bench, 3);
    EXPECT_ISSUES(&bench, 0b0111, 1, 2, 0, 1);
    bench_end(&bench);
}

/* Builds the queue while `blocked` wait, wakes them, and expects the rest of the pass. */
#define EXPECT_PASS(bench, blocked, active, first, ...)                                                                \
    do {                                                                                                               \
        (bench)->waits_long = bench_set(blocked);                                                                      \
        EXPECT_ISSUES(bench, active, first);                                                                           \
        (bench)->waits_long = bench_set(0);                                                                            \
        EXPECT_ISSUES(bench, (blocked) | (active), __VA_ARGS__);                                                       \
    } while (0)

static void blocked_warps_are_spread_one_by_one_between_the_active_ones(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lpi", 6);
    /* Each blocked warp has a gap at its own place: the order is that of arrival. */
    EXPECT_PASS(&bench, 0b010100, 0b101011, 0, 1, 2, 3, 4, 5);
    /* 1, 2, 3 are between 0 and 4. The gap there takes 1, the one between 4 and 5 takes 2, and 3 goes to the end. */
    EXPECT_PASS(&bench, 0b001110, 0b110001, 0, 1, 4, 2, 5, 3);
    /* 0 comes before all active ones: the first gap is after 1. 5 comes after all. */
    EXPECT_PASS(&bench, 0b100001, 0b011110, 1, 0, 2, 3, 4, 5);
    /* A single active warp leaves no gap. */
    EXPECT_PASS(&bench, 0b111011, 0b000100, 2, 0, 1, 3, 4, 5);
    bench_end(&bench);
}

static void pending_warps_are_blocked_too(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lpi", 3);
    bench_stall(&bench, 0, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b110, 1);
    bench_wake(&bench, 0);
    EXPECT_ISSUES(&bench, 0b111, 0, 2, 0, 1);
    bench_end(&bench);
}

static void a_warp_that_arrives_during_a_pass_is_in_the_next(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lpi", 2);
    EXPECT_ISSUES(&bench, 0b11, 0);
    bench_arrive(&bench, 2);
    EXPECT_ISSUES(&bench, 0b111, 1, 0, 1, 2);
    EXPECT_ISSUES(&bench, 0b100, 2, 2);
    bench_end(&bench);
}

static void made_in_every_cycle_the_queue_starts_with_the_oldest_active_warp(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "lpi:queue=cycle", 4);
    static const uint64_t age[] = {13, 10, 12, 11};
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench.slot[slot].age = age[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b1111, 1, 1);
    bench_stall(&bench, 1, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1101, 3, 3);
    EXPECT_ISSUES(&bench, 0b0101, 2);
    bench_wake(&bench, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_blocked_warps_a_pass_goes_by_age),
        cmocka_unit_test(blocked_warps_are_spread_one_by_one_between_the_active_ones),
        cmocka_unit_test(pending_warps_are_blocked_too),
        cmocka_unit_test(a_warp_that_arrives_during_a_pass_is_in_the_next),
        cmocka_unit_test(made_in_every_cycle_the_queue_starts_with_the_oldest_active_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
