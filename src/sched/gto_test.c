/* Tests of greedy then oldest. */
#include "sched/fixture.h"

static void the_last_warp_continues_then_the_oldest_issues(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "gto", 3);
    static const uint64_t age[] = {5, 3, 9};
    for (uint32_t slot = 0; slot < 3; slot++) {
        bench.slot[slot].age = age[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b111, 1, 1, 1); /* none has issued: 1 is the oldest */
    EXPECT_ISSUES(&bench, 0b101, 0, 0);    /* 1 cannot; of 5 and 9, 5 is older */
    EXPECT_ISSUES(&bench, 0b111, 0);       /* 1 is older, but 0 can still issue */
    EXPECT_ISSUES(&bench, 0b110, 1);
    EXPECT_ISSUES(&bench, 0b100, 2);
    EXPECT_ISSUES(&bench, 0b111, 2);
    bench_end(&bench);
}

static void a_new_warp_in_a_slot_is_the_youngest_and_inherits_no_greed(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "gto", 3);
    EXPECT_ISSUES(&bench, 0b111, 0);
    bench_leave(&bench, 0);
    bench.slot[0].age = 3;
    bench_arrive(&bench, 0);
    EXPECT_ISSUES(&bench, 0b111, 1); /* ages 3, 1, 2 */
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b001, 0);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_warp_continues_then_the_oldest_issues),
        cmocka_unit_test(a_new_warp_in_a_slot_is_the_youngest_and_inherits_no_greed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
