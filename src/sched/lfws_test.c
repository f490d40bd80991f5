/* Tests of LFWS. */
#include "sched/fixture.h"

static void long_operations_go_first_and_each_class_is_greedy_then_oldest(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "lfws", 4);
    static const uint64_t age[] = {7, 6, 5, 4};
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench.slot[slot].age = age[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b1111, 3, 3); /* all short: the oldest, then greedy */
    EXPECT_ISSUES(&bench, 0b0111, 2);
    EXPECT_ISSUES(&bench, 0b1111, 2);
    bench.next_long = bench_set(0b0011);
    EXPECT_ISSUES(&bench, 0b1111, 1, 1); /* of the long ones 1 is older */
    EXPECT_ISSUES(&bench, 0b1101, 0);
    EXPECT_ISSUES(&bench, 0b1111, 0); /* greedy among the long ones */
    bench.next_long = bench_set(0b1000);
    EXPECT_ISSUES(&bench, 0b1111, 3); /* 0 issued last, but its next is short */
    EXPECT_ISSUES(&bench, 0b0111, 2);
    bench_end(&bench);
}

static void a_new_warp_in_a_slot_inherits_no_greed(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lfws", 3);
    EXPECT_ISSUES(&bench, 0b100, 2);
    bench_leave(&bench, 2);
    bench_arrive(&bench, 2);
    EXPECT_ISSUES(&bench, 0b111, 0);
    bench_end(&bench);
}

/* A slot and its warp id are used again; the warp in it is then the youngest. */
static void a_new_warp_in_a_low_slot_comes_after_the_older_ones(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "lfws", 3);
    bench_leave(&bench, 0);
    bench.slot[0].age = 3;
    bench_arrive(&bench, 0);
    EXPECT_ISSUES(&bench, 0b111, 1);
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b001, 0);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_operations_go_first_and_each_class_is_greedy_then_oldest),
        cmocka_unit_test(a_new_warp_in_a_slot_inherits_no_greed),
        cmocka_unit_test(a_new_warp_in_a_low_slot_comes_after_the_older_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
