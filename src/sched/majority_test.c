/* Tests of the most common program counter first. */
#include "sched/fixture.h"

static void set_pcs(struct bench *bench, const uint32_t *pc, uint32_t n) {
    for (uint32_t slot = 0; slot < n; slot++) {
        bench->slot[slot].pc = pc[slot];
        bench->slot[slot].active_lanes = 32;
    }
}

static void all_warps_at_the_most_common_pc_go_before_the_next_is_chosen(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "majority", 6);
    static const uint32_t pc[] = {7, 3, 7, 3, 7, 9};
    set_pcs(&bench, pc, 6);
    EXPECT_ISSUES(&bench, 0b111111, 0); /* three are at 7 */
    bench.slot[0].pc = 3;               /* now three are at 3 and two at 7, but those at 7 continue */
    EXPECT_ISSUES(&bench, 0b111111, 2);
    bench.slot[2].pc = 3;
    EXPECT_ISSUES(&bench, 0b111111, 4);
    bench.slot[4].pc = 8;
    EXPECT_ISSUES(&bench, 0b111111, 0); /* four at 3 */
    bench.slot[0].pc = 8;
    EXPECT_ISSUES(&bench, 0b111111, 1);
    bench_end(&bench);
}

/* Three warps of eight threads at 7, one of 32 at 9. */
static void the_most_threads_make_a_pc_common_unless_warps_are_counted(void **state) {
    (void)state;
    static const char *const name[] = {"majority", "majority:count=warps"};
    static const uint32_t pc[] = {7, 7, 7, 9};
    for (uint32_t i = 0; i < 2; i++) {
        struct bench bench;
        bench_start_full(&bench, name[i], 4);
        set_pcs(&bench, pc, 4);
        for (uint32_t slot = 0; slot < 3; slot++)
            bench.slot[slot].active_lanes = 8;
        EXPECT_ISSUES(&bench, 0b1111, i == 0 ? 3 : 0);
        bench_end(&bench);
    }
}

static void warps_that_reach_the_chosen_pc_join_the_others(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "majority", 4);
    static const uint32_t pc[] = {5, 5, 6, 6};
    set_pcs(&bench, pc, 4);
    EXPECT_ISSUES(&bench, 0b1111, 0); /* equally common: the lowest pc */
    bench.slot[0].pc = 6;
    bench.slot[2].pc = 5;
    EXPECT_ISSUES(&bench, 0b1111, 1);
    bench.slot[1].pc = 6;
    EXPECT_ISSUES(&bench, 0b1111, 2);
    bench.slot[2].pc = 6;
    EXPECT_ISSUES(&bench, 0b1111, 0);
    bench_end(&bench);
}

static void warps_that_cannot_issue_do_not_count(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "majority", 4);
    static const uint32_t pc[] = {5, 5, 5, 6};
    set_pcs(&bench, pc, 4);
    EXPECT_ISSUES(&bench, 0b1000, 3);
    EXPECT_ISSUES(&bench, 0b1111, 3); /* 6 is still the chosen one */
    bench.slot[3].pc = 7;
    EXPECT_ISSUES(&bench, 0b1111, 0);
    bench_end(&bench);
}

static void of_the_warps_at_a_pc_the_oldest_goes_first(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "majority", 3);
    static const uint32_t pc[] = {5, 5, 5};
    set_pcs(&bench, pc, 3);
    bench.slot[0].age = 9;
    EXPECT_ISSUES(&bench, 0b111, 1);
    EXPECT_ISSUES(&bench, 0b101, 2);
    EXPECT_ISSUES(&bench, 0b001, 0);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_warps_at_the_most_common_pc_go_before_the_next_is_chosen),
        cmocka_unit_test(the_most_threads_make_a_pc_common_unless_warps_are_counted),
        cmocka_unit_test(warps_that_reach_the_chosen_pc_join_the_others),
        cmocka_unit_test(warps_that_cannot_issue_do_not_count),
        cmocka_unit_test(of_the_warps_at_a_pc_the_oldest_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
