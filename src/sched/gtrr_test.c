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

/* Slots 0 and 1 hold splits of warp 0, slots 2 and 3 of warp 1. */
static void start_splits(struct bench *bench, const char *scheduler) {
    bench_start(bench, scheduler, 4);
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench->slot[slot].warp_id = slot / 2;
        bench_arrive(bench, slot);
    }
}

static void the_next_group_is_preferably_of_a_different_warp(void **state) {
    (void)state;
    struct bench bench;
    start_splits(&bench, "gtrr:next=warp");
    EXPECT_ISSUES(&bench, 0b1111, 0, 0); /* greedy, as without the option */
    EXPECT_ISSUES(&bench, 0b1110, 2);    /* not slot 1, of the same warp */
    EXPECT_ISSUES(&bench, 0b1001, 0);    /* not slot 3 */
    EXPECT_ISSUES(&bench, 0b0010, 1);    /* there is no other warp */
    EXPECT_ISSUES(&bench, 0b1000, 3);
    EXPECT_ISSUES(&bench, 0b0111, 0); /* round robin among the other warps */
    bench_leave(&bench, 0);
    EXPECT_ISSUES(&bench, 0b1010, 3); /* not slot 1: the group that has left was of its warp */
    bench_end(&bench);
    start_splits(&bench, "gtrr");
    EXPECT_ISSUES(&bench, 0b1111, 0);
    EXPECT_ISSUES(&bench, 0b1110, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_warp_continues_then_the_next_issues),
        cmocka_unit_test(a_new_warp_in_a_slot_inherits_no_greed),
        cmocka_unit_test(the_next_group_is_preferably_of_a_different_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
