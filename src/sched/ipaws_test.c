/* Tests of the choice between greedy and round robin. Slots arrive in the order of their numbers, so slot 0 is the
 * oldest. */
#include "sched/fixture.h"

static void issue_times(struct bench *bench, uint32_t slot, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(bench_issue(bench, 1ull << slot), slot);
}

/* Four warps issue n[0] to n[3] instructions. Then warp 3 ends. */
static void learn(struct bench *bench, const char *scheduler, const unsigned n[4]) {
    bench_start_full(bench, scheduler, 4);
    for (uint32_t slot = 0; slot < 4; slot++)
        issue_times(bench, slot, n[slot]);
    bench_leave(bench, 3);
}

static void it_learns_with_gto(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "ipaws", 4);
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1, 1);
    EXPECT_ISSUES(&bench, 0b1101, 0);
    EXPECT_ISSUES(&bench, 0b1000, 3);
    EXPECT_ISSUES(&bench, 0b0111, 0);
    bench_end(&bench);
}

/* Warps 0 and 1 are the older half: 75 of 100 instructions. */
static void a_biased_pattern_stays_greedy(void **state) {
    (void)state;
    struct bench bench;
    learn(&bench, "ipaws", (const unsigned[]){40, 35, 20, 5});
    EXPECT_ISSUES(&bench, 0b110, 1, 1);
    EXPECT_ISSUES(&bench, 0b111, 1);
    EXPECT_ISSUES(&bench, 0b101, 0, 0);
    bench_end(&bench);
}

/* 74 of 100. */
static void an_even_pattern_goes_on_round_robin(void **state) {
    (void)state;
    struct bench bench;
    learn(&bench, "ipaws", (const unsigned[]){40, 34, 20, 6});
    EXPECT_ISSUES(&bench, 0b111, 0, 1, 2, 0);
    EXPECT_ISSUES(&bench, 0b101, 2, 0, 2);
    bench_end(&bench);
}

static void share_is_the_limit(void **state) {
    (void)state;
    struct bench bench;
    learn(&bench, "ipaws:share=50", (const unsigned[]){16, 16, 16, 16});
    EXPECT_ISSUES(&bench, 0b111, 0, 0, 0);
    bench_end(&bench);
    learn(&bench, "ipaws:share=101", (const unsigned[]){64, 0, 0, 0});
    EXPECT_ISSUES(&bench, 0b111, 1, 2, 0, 1);
    bench_end(&bench);
}

/* Four warps: the end of a warp counts after 64 instructions. */
static void a_warp_that_ends_at_once_ends_no_learning(void **state) {
    (void)state;
    struct bench bench;
    learn(&bench, "ipaws", (const unsigned[]){16, 16, 16, 15});
    EXPECT_ISSUES(&bench, 0b111, 0, 0, 0);
    bench_leave(&bench, 2); /* 66 instructions of three warps; the older half is warp 0, with 19 of 51 */
    EXPECT_ISSUES(&bench, 0b011, 1, 0);
    bench_end(&bench);
    learn(&bench, "ipaws", (const unsigned[]){16, 16, 16, 16});
    EXPECT_ISSUES(&bench, 0b111, 0, 1, 2);
    bench_end(&bench);
}

/* After the tenth instruction the older half of two warps has issued half of them. The eleventh is round robin. */
static void the_window_ends_the_learning_phase(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "ipaws:window=10", 2);
    issue_times(&bench, 1, 5);
    issue_times(&bench, 0, 4);
    EXPECT_ISSUES(&bench, 0b11, 0, 1, 0, 1);
    bench_end(&bench);
}

/* Later patterns change nothing. */
static void a_kernel_keeps_its_scheduler(void **state) {
    (void)state;
    struct bench bench;
    learn(&bench, "ipaws", (const unsigned[]){16, 16, 16, 16});
    issue_times(&bench, 0, 50);
    bench_leave(&bench, 2);
    EXPECT_ISSUES(&bench, 0b11, 1, 0, 1);
    bench_end(&bench);
}

/* Slot 3 holds the oldest warp: it and slot 0 are the older half, with 100 of 120 instructions. */
static void halves_are_by_age(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "ipaws", 4);
    bench.slot[3].age = 0;
    for (uint32_t slot = 0; slot < 3; slot++)
        bench.slot[slot].age = slot + 1;
    for (uint32_t slot = 0; slot < 4; slot++)
        bench_arrive(&bench, slot);
    issue_times(&bench, 3, 90);
    issue_times(&bench, 0, 10);
    issue_times(&bench, 1, 20);
    bench_leave(&bench, 2);
    EXPECT_ISSUES(&bench, 0b1011, 1, 1);
    EXPECT_ISSUES(&bench, 0b1001, 3);
    bench_end(&bench);
}

/* Slots 0 and 2 belong to one scheduler, 1 and 3 to the other. Each has its own turn. */
static void schedulers_of_an_sm_decide_together_and_take_turns_alone(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "ipaws:window=8", 6);
    bench.view.n_schedulers = 2;
    for (uint32_t slot = 0; slot < 6; slot++)
        issue_times(&bench, slot, 1);
    issue_times(&bench, 0, 1);
    issue_times(&bench, 1, 1); /* 5 of 8 instructions: round robin */
    EXPECT_ISSUES(&bench, 0b010101, 2, 4, 0);
    EXPECT_ISSUES(&bench, 0b101010, 3, 5, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_with_gto),
        cmocka_unit_test(a_biased_pattern_stays_greedy),
        cmocka_unit_test(an_even_pattern_goes_on_round_robin),
        cmocka_unit_test(share_is_the_limit),
        cmocka_unit_test(a_warp_that_ends_at_once_ends_no_learning),
        cmocka_unit_test(the_window_ends_the_learning_phase),
        cmocka_unit_test(a_kernel_keeps_its_scheduler),
        cmocka_unit_test(halves_are_by_age),
        cmocka_unit_test(schedulers_of_an_sm_decide_together_and_take_turns_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
