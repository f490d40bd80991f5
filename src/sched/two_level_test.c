/* Tests of two-level scheduling. Fetch groups of two: warps {0, 1}, {2, 3}, {4, 5}. */
#include "sched/fixture.h"

static void with_switch_empty_the_group_that_issued_last_has_priority(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level:group=2", 6);
    EXPECT_ISSUES(&bench, 0b111111, 0, 1, 0, 1, 0);
    EXPECT_ISSUES(&bench, 0b110000, 4);       /* group 1 is not ready either, so group 2 */
    EXPECT_ISSUES(&bench, 0b111111, 5, 4, 5); /* and stays there */
    EXPECT_ISSUES(&bench, 0b001111, 1);       /* after group 2 comes group 0, which continues where it stopped */
    EXPECT_ISSUES(&bench, 0b111100, 2);
    EXPECT_ISSUES(&bench, 0b111111, 3, 2);
    bench_end(&bench);
}

static void with_switch_stall_lower_groups_only_fill_in(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level:group=2,switch=stall", 4);
    EXPECT_ISSUES(&bench, 0b1111, 0, 1);
    EXPECT_ISSUES(&bench, 0b1100, 2); /* the top has no candidate this cycle ... */
    EXPECT_ISSUES(&bench, 0b1111, 0); /* ... and is still the top */
    bench_stall(&bench, 0, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1110, 1); /* one of two waits */
    bench_stall(&bench, 1, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b1100, 3, 2); /* both do: group 1 is the top */
    bench_wake(&bench, 0);
    EXPECT_ISSUES(&bench, 0b1101, 3); /* group 0 is the lowest now, */
    EXPECT_ISSUES(&bench, 0b0001, 0); /* and fills in */
    EXPECT_ISSUES(&bench, 0b1101, 2);
    bench_stall(&bench, 2, WAITS_SHORT);
    bench_stall(&bench, 3, WAITS_LONG);
    EXPECT_ISSUES(&bench, 0b0001, 0);
    bench_wake(&bench, 2);
    EXPECT_ISSUES(&bench, 0b0101, 2); /* a short wait does not count: group 1 is still the top */
    bench_stall(&bench, 2, WAITS_LONG);
    bench_wake(&bench, 2);
    EXPECT_ISSUES(&bench, 0b0101, 0); /* both waited for a moment */
    bench_end(&bench);
}

static void when_all_groups_wait_the_first_to_wake_is_the_top(void **state) {
    (void)state;
    for (uint32_t first = 0; first < 6; first += 2) {
        struct bench bench;
        bench_start_full(&bench, "two-level:group=2,switch=stall", 6);
        for (uint32_t slot = 0; slot < 6; slot++)
            bench_stall(&bench, slot, WAITS_LONG);
        bench_wake(&bench, first);
        for (uint32_t slot = 0; slot < 6; slot++)
            bench_wake(&bench, slot);
        EXPECT_ISSUES(&bench, 0b111111, (int)first, (int)first + 1, (int)first);
        bench_end(&bench);
    }
}

static void a_group_that_has_finished_passes_its_priority_on(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level:group=2,switch=stall", 6);
    EXPECT_ISSUES(&bench, 0b111111, 0, 1);
    bench_leave(&bench, 0);
    bench_stall(&bench, 1, WAITS_LONG); /* the last warp of group 0 */
    bench_wake(&bench, 1);
    EXPECT_ISSUES(&bench, 0b111110, 2, 3);
    bench_leave(&bench, 2);
    bench_leave(&bench, 3);
    EXPECT_ISSUES(&bench, 0b110010, 4, 5, 4);
    bench_end(&bench);
}

static void the_timeout_ends_the_priority_of_a_single_warp(void **state) {
    (void)state;
    static const char *const switches[] = {"two-level:group=1,timeout=3", "two-level:group=1,timeout=3,switch=stall"};
    for (int i = 0; i < 2; i++) {
        struct bench bench;
        bench_start_full(&bench, switches[i], 3);
        EXPECT_ISSUES(&bench, 0b111, 0, 0, 0, 1, 1);
        bench_stall(&bench, 2, WAITS_LONG);
        EXPECT_ISSUES(&bench, 0b011, 1, 0, 0, 0, 1); /* 2 could not use the priority */
        bench_end(&bench);
    }
}

static void only_instructions_of_the_top_count_for_the_timeout(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "two-level:group=1,timeout=2,switch=stall", 2);
    EXPECT_ISSUES(&bench, 0b11, 0);
    EXPECT_ISSUES(&bench, 0b10, 1, 1, 1);
    EXPECT_ISSUES(&bench, 0b11, 0, 1);
    bench_end(&bench);
}

static void the_timeout_is_32768_instructions_and_applies_to_groups_of_one(void **state) {
    (void)state;
    struct bench one, none, two;
    bench_start_full(&one, "two-level:group=1", 2);
    bench_start_full(&none, "two-level:group=1,timeout=0", 2);
    bench_start_full(&two, "two-level:group=2,timeout=1", 4);
    for (int i = 0; i < 32768; i++) {
        assert_int_equal(bench_issue(&one, 0b11), 0);
        assert_int_equal(bench_issue(&none, 0b11), 0);
        assert_int_equal(bench_issue(&two, 0b1111), i % 2);
    }
    assert_int_equal(bench_issue(&one, 0b11), 1);
    assert_int_equal(bench_issue(&none, 0b11), 0);
    assert_int_equal(bench_issue(&two, 0b1111), 0);
    bench_end(&one);
    bench_end(&none);
    bench_end(&two);
}

static void each_level_may_be_greedy_then_oldest(void **state) {
    (void)state;
    static const uint64_t age[] = {30, 31, 41, 40, 11, 10};
    struct bench inner, outer;
    bench_start(&inner, "two-level:group=2,inner=gto", 6);
    bench_start(&outer, "two-level:group=2,outer=gto", 6);
    for (uint32_t slot = 0; slot < 6; slot++) {
        inner.slot[slot].age = outer.slot[slot].age = age[slot];
        bench_arrive(&inner, slot);
        bench_arrive(&outer, slot);
    }
    EXPECT_ISSUES(&inner, 0b111111, 0, 0, 0);
    EXPECT_ISSUES(&inner, 0b111110, 1);
    EXPECT_ISSUES(&inner, 0b111111, 1);
    EXPECT_ISSUES(&inner, 0b111100, 3, 3); /* the next group is 1, in which 3 is older */
    bench_leave(&inner, 3);
    inner.slot[3].age = 50;
    bench_arrive(&inner, 3);
    EXPECT_ISSUES(&inner, 0b111111, 2); /* the new warp inherits no greed */

    EXPECT_ISSUES(&outer, 0b111111, 0, 1, 0);
    EXPECT_ISSUES(&outer, 0b111100, 4); /* group 2 has the oldest warp; inside, round robin */
    EXPECT_ISSUES(&outer, 0b111111, 5, 4);
    EXPECT_ISSUES(&outer, 0b001111, 1);
    bench_end(&inner);
    bench_end(&outer);
}

static void groups_are_formed_by_warp_id_not_by_slot(void **state) {
    (void)state;
    struct bench bench;
    bench_start(&bench, "two-level:group=2", 4);
    static const uint32_t id[] = {0, 2, 1, 3};
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench.slot[slot].warp_id = id[slot];
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0b1111, 0, 2, 0);
    EXPECT_ISSUES(&bench, 0b1010, 1, 3, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_switch_empty_the_group_that_issued_last_has_priority),
        cmocka_unit_test(with_switch_stall_lower_groups_only_fill_in),
        cmocka_unit_test(when_all_groups_wait_the_first_to_wake_is_the_top),
        cmocka_unit_test(a_group_that_has_finished_passes_its_priority_on),
        cmocka_unit_test(the_timeout_ends_the_priority_of_a_single_warp),
        cmocka_unit_test(only_instructions_of_the_top_count_for_the_timeout),
        cmocka_unit_test(the_timeout_is_32768_instructions_and_applies_to_groups_of_one),
        cmocka_unit_test(each_level_may_be_greedy_then_oldest),
        cmocka_unit_test(groups_are_formed_by_warp_id_not_by_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
