/* Tests of block-aware scheduling. Six blocks of two warps, in slots 2 b and 2 b + 1, which arrive in the order of
 * their numbers. With warps=4 the groups are slots 0 to 3, 4 to 7 and 8 to 11. */
#include "sched/fixture.h"

static void start(struct bench *bench, const char *scheduler, uint32_t sm) {
    bench_start(bench, scheduler, 12);
    bench->kernel = (struct sched_kernel){.threads_per_block = 48, .warp_size = 32, .sm = sm};
    for (uint32_t slot = 0; slot < 12; slot++) {
        bench->slot[slot].block = slot / 2;
        bench_arrive(bench, slot);
    }
}

static void groups_of_whole_blocks_take_turns_when_they_can_issue_no_more(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "owl:rules=groups,warps=4", 1);
    EXPECT_ISSUES(&bench, 0xfff, 0, 1, 2, 3, 0);
    EXPECT_ISSUES(&bench, 0xff0, 4, 5);    /* the next group */
    EXPECT_ISSUES(&bench, 0xfff, 6, 7, 4); /* keeps its turn */
    EXPECT_ISSUES(&bench, 0xf0f, 8);
    EXPECT_ISSUES(&bench, 0x00f, 1); /* continues where it stopped */
    bench_end(&bench);
}

static void with_locality_the_oldest_group_goes_first_again(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "owl:rules=locality,warps=4", 1);
    EXPECT_ISSUES(&bench, 0xfff, 0, 1);
    EXPECT_ISSUES(&bench, 0xff0, 4, 5);
    EXPECT_ISSUES(&bench, 0xfff, 2, 3);
    EXPECT_ISSUES(&bench, 0xf00, 8);
    bench_end(&bench);
}

static void when_the_blocks_of_a_group_end_another_group_is_the_oldest(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "owl:rules=locality,warps=4", 0);
    for (uint32_t slot = 0; slot < 4; slot++) {
        bench_leave(&bench, slot);
        bench.slot[slot].age = 100 + slot;
        bench_arrive(&bench, slot);
    }
    EXPECT_ISSUES(&bench, 0xfff, 4, 5, 6);
    EXPECT_ISSUES(&bench, 0xf0f, 8); /* then the next oldest, and the new blocks last */
    EXPECT_ISSUES(&bench, 0x00f, 0);
    bench_end(&bench);
}

static void with_banks_each_sm_prefers_another_group(void **state) {
    (void)state;
    for (uint32_t sm = 0; sm < 7; sm++) {
        struct bench bench;
        start(&bench, "owl:warps=4", sm);
        int first = 4 * (int)(sm % 3), second = 4 * (int)((sm + 1) % 3);
        EXPECT_ISSUES(&bench, 0xfff, first, first + 1);
        EXPECT_ISSUES(&bench, 0xfffull & ~(0xfull << first), second);
        EXPECT_ISSUES(&bench, 0xfff, first + 2);
        bench_end(&bench);
    }
}

/* Blocks of two warps: groups of four blocks have eight, and groups of one block at least one. */
static void a_group_has_enough_blocks_for_its_warps(void **state) {
    (void)state;
    struct bench eight, one;
    start(&eight, "owl:rules=groups", 0);
    EXPECT_ISSUES(&eight, 0xfff, 0, 1, 2, 3, 4, 5, 6, 7, 0);
    start(&one, "owl:rules=groups,warps=1", 0);
    EXPECT_ISSUES(&one, 0xfff, 0, 1, 0);
    bench_end(&eight);
    bench_end(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_whole_blocks_take_turns_when_they_can_issue_no_more),
        cmocka_unit_test(with_locality_the_oldest_group_goes_first_again),
        cmocka_unit_test(when_the_blocks_of_a_group_end_another_group_is_the_oldest),
        cmocka_unit_test(with_banks_each_sm_prefers_another_group),
        cmocka_unit_test(a_group_has_enough_blocks_for_its_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
