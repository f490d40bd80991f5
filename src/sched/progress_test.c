/* Tests of least progress first. */
#include "sched/fixture.h"

/* The effect of the instruction: the scheduler sees the new value when it has issued. */
static void issue_progress(struct bench *bench, uint32_t slot, uint32_t value) {
    bench->slot[slot].progress = value;
    bench->ops->issued(bench->state, &bench->view, slot);
}

static void the_least_progress_goes_first_and_equals_take_turns(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "progress", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 1, 2, 3, 0); /* no warp has made any */
    issue_progress(&bench, 1, 5);
    issue_progress(&bench, 3, 2);
    EXPECT_ISSUES(&bench, 0b1111, 0, 2, 0, 2); /* 0 5 0 2 */
    EXPECT_ISSUES(&bench, 0b1010, 3, 3);
    EXPECT_ISSUES(&bench, 0b0010, 1);
    issue_progress(&bench, 0, 7);
    issue_progress(&bench, 2, 5);
    EXPECT_ISSUES(&bench, 0b1111, 3, 3);    /* 7 5 5 2 */
    EXPECT_ISSUES(&bench, 0b0111, 1, 2, 1); /* two with 5 */
    issue_progress(&bench, 0, 1);           /* the register may decrease */
    EXPECT_ISSUES(&bench, 0b1111, 0, 0);
    bench_end(&bench);
}

static void equals_may_be_greedy_then_oldest(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "progress:ties=gto", 3);
    static const uint64_t age[] = {5, 3, 9};
    for (uint32_t slot = 0; slot < 3; slot++) {
        bench.slot[slot].age = age[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b111, 1, 1); /* the oldest */
    EXPECT_ISSUES(&bench, 0b101, 0, 0);
    EXPECT_ISSUES(&bench, 0b111, 0); /* 1 is older, but 0 continues */
    issue_progress(&bench, 0, 1);
    EXPECT_ISSUES(&bench, 0b111, 1, 1);
    issue_progress(&bench, 1, 1);
    EXPECT_ISSUES(&bench, 0b111, 2, 2);
    EXPECT_ISSUES(&bench, 0b011, 1); /* equal again: the older */
    bench_end(&bench);
}

static void a_new_warp_in_a_slot_has_made_no_progress(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "progress:ties=gto", 3);
    for (uint32_t slot = 0; slot < 3; slot++)
        issue_progress(&bench, slot, 4 + slot);
    EXPECT_ISSUES(&bench, 0b110, 1);
    bench_leave(&bench, 1);
    issue_progress(&bench, 2, 1);
    bench.slot[1] = (struct sched_slot){.age = 3, .warp_id = 1};
    bench_arrive(&bench, 1);
    EXPECT_ISSUES(&bench, 0b111, 1, 1); /* 4 0 1 */
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b001, 0);
    issue_progress(&bench, 1, 1);
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b011, 1); /* it does not inherit the 5 of the warp before it */
    bench_end(&bench);
}

/* Slots 0 and 2 belong to block 1, the older one, 1 and 3 to block 0. */
static void only_warps_of_the_oldest_block_may_be_compared(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "progress:among=block", 4);
    static const uint32_t block[] = {1, 0, 1, 0}, progress[] = {9, 1, 8, 0};
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench.slot[slot].block = block[slot];
        bench_arrive(&bench, slot);
    }
    for (uint32_t slot = 0; slot < 4; slot++)
        issue_progress(&bench, slot, progress[slot]);
    EXPECT_ISSUES(&bench, 0b1111, 2, 2); /* 0 is the oldest; 2 of its block has less */
    EXPECT_ISSUES(&bench, 0b1011, 0);
    EXPECT_ISSUES(&bench, 0b1110, 3); /* without 0, 1 is the oldest, and 3 of its block has less */
    EXPECT_ISSUES(&bench, 0b0110, 1);
    EXPECT_ISSUES(&bench, 0b1100, 2);
    issue_progress(&bench, 2, 9);
    EXPECT_ISSUES(&bench, 0b1111, 0, 2, 0); /* equals take turns */
    bench_end(&bench);
}

static void the_cost_is_a_register_per_warp(void **state) {
    (void)state;
    struct bench bench;
    char formula[256];
    bench_start(&bench, "progress", 4);
    struct config_machine machine = {.sm = {.threads = 1024, .warp_size = 32}};
    assert_int_equal(bench.ops->cost_bits(bench.options, &machine, formula, sizeof formula), 1024);
    assert_non_null(strstr(formula, "32 x 32"));
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_progress_goes_first_and_equals_take_turns),
        cmocka_unit_test(equals_may_be_greedy_then_oldest),
        cmocka_unit_test(a_new_warp_in_a_slot_has_made_no_progress),
        cmocka_unit_test(only_warps_of_the_oldest_block_may_be_compared),
        cmocka_unit_test(the_cost_is_a_register_per_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
