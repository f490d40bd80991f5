/* Tests of greedy then round robin. */
#include "sched/fixture.h"

static void the_last_warp_continues_then_the_next_issues(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "gtrr", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 0, 0);
    EXPECT_ISSUES(&bench, 0b1110, 1, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1); /* gto would continue with 1 too, but ... */
    EXPECT_ISSUES(&bench, 0b1001, 3); /* ... then take 0, the oldest */
    EXPECT_ISSUES(&bench, 0b0110, 1); /* after 3 comes 0, which is not ready */
    bench_end(&bench);
}

static void a_new_warp_in_a_slot_inherits_no_greed(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "gtrr", 3);
    EXPECT_ISSUES(&bench, 0b111, 0);
    bench_leave(&bench, 0);
    bench_arrive(&bench, 0);
    EXPECT_ISSUES(&bench, 0b111, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_warp_continues_then_the_next_issues),
        cmocka_unit_test(a_new_warp_in_a_slot_inherits_no_greed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
