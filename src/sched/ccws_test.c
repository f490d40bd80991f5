/* Tests of cache-conscious scheduling. Slots arrive in the order of their numbers, so slot 0 is the oldest. With `n`
 * warps and the base score 100 the cutoff is 100 n. */
#include "sched/fixture.h"

enum { LINE = 128 };

static void start(struct bench *bench, const char *scheduler, uint32_t n_slots) {
    bench_start(bench, scheduler, n_slots);
    bench->kernel.l1_line_bytes = LINE;
    for (uint32_t slot = 0; slot < n_slots; slot++)
        bench_arrive(bench, slot);
    bench->next_long = bench->next_load = bench_set((1ull << n_slots) - 1);
}

/* The warp loses a line and misses it. */
static void lose(struct bench *bench, uint32_t slot, uint64_t line) {
    bench_l1(bench, SCHED_L1_EVICTION, slot, line);
    bench_l1(bench, SCHED_L1_MISS, slot, line);
}

static void issue_times(struct bench *bench, uint64_t candidates, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        bench_issue(bench, candidates);
}

static void without_lost_locality_it_is_gto(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 4);
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1111, 1);
    EXPECT_ISSUES(&bench, 0b1101, 0);
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench_l1(&bench, SCHED_L1_MISS, 3, LINE); /* a miss of a line that it never had */
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench_end(&bench);
}

/* 16 instructions and 1 loss: the score of warp 2 becomes 1 / 16 x 8 x 400 = 200. Sums: 2: 200, 0: 300, 1: 400, 3: 500.
 */
static void a_raised_score_keeps_the_youngest_warps_from_loading(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 4);
    issue_times(&bench, 0b0001, 16);
    lose(&bench, 2, LINE);
    EXPECT_ISSUES(&bench, 0b1000, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b0010, 1);
    EXPECT_ISSUES(&bench, 0b0100, 2);
    bench.next_long = bench.next_load = bench_set(0b0111); /* other instructions of warp 3 may issue */
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench.next_long = bench_set(0b1111); /* and so may a store */
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench_end(&bench);
}

static void a_score_falls_by_one_in_each_cycle_to_the_base(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 4);
    issue_times(&bench, 0b0001, 16);
    lose(&bench, 2, LINE);
    bench.view.cycle = 99; /* 101 + 300 > 400 */
    EXPECT_ISSUES(&bench, 0b1000, SCHED_NONE);
    bench.view.cycle = 100;
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench.view.cycle = 500; /* it does not fall below the base */
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench_end(&bench);
}

/* 4 instructions: 1 / 4 x 8 x 400 = 800, more than the cutoff. Warp 2 still loads. */
static void the_first_warp_may_always_load(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 4);
    issue_times(&bench, 0b0001, 4);
    lose(&bench, 2, LINE);
    EXPECT_ISSUES(&bench, 0b1011, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b1111, 2);
    /* A second loss, of warp 0: 2 / 5 x 8 x 400 = 1280: it goes before warp 2. */
    lose(&bench, 0, LINE);
    EXPECT_ISSUES(&bench, 0b1110, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b1111, 0);
    bench_end(&bench);
}

static void equal_scores_are_ordered_by_age(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws:throttle=4", 3); /* cutoff 300 */
    issue_times(&bench, 0b001, 12);
    lose(&bench, 1, LINE); /* 1 / 12 x 4 x 300 = 100: not above the base */
    EXPECT_ISSUES(&bench, 0b100, 2);
    issue_times(&bench, 0b001, 2);
    lose(&bench, 2, LINE); /* 2 / 15 x 4 x 300 = 160: sums 2: 160, 0: 260, 1: 360 */
    EXPECT_ISSUES(&bench, 0b010, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b100, 2);
    bench.view.cycle = 60; /* 100 again */
    issue_times(&bench, 0b001, 2);
    lose(&bench, 2, LINE); /* 3 / 18 x 4 x 300 = 200 */
    issue_times(&bench, 0b100, 6);
    lose(&bench, 1, LINE); /* 4 / 24 x 4 x 300 = 200: sums 1: 200, 2: 400 */
    EXPECT_ISSUES(&bench, 0b100, SCHED_NONE);
    EXPECT_ISSUES(&bench, 0b010, 1);
    EXPECT_ISSUES(&bench, 0b001, SCHED_NONE);
    bench_end(&bench);
}

static void a_warp_finds_only_its_own_tags_and_each_only_once(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 2);
    issue_times(&bench, 0b01, 8);
    bench_l1(&bench, SCHED_L1_EVICTION, 0, LINE);
    bench_l1(&bench, SCHED_L1_MISS, 1, LINE);
    EXPECT_ISSUES(&bench, 0b10, 1);
    bench_l1(&bench, SCHED_L1_MISS, 0, LINE); /* lost: 1 / 9 x 8 x 200 = 177 */
    EXPECT_ISSUES(&bench, 0b10, SCHED_NONE);
    bench.view.cycle = 77;
    EXPECT_ISSUES(&bench, 0b10, 1);
    bench_l1(&bench, SCHED_L1_MISS, 0, LINE); /* the tag is gone */
    EXPECT_ISSUES(&bench, 0b10, 1);
    bench_end(&bench);
}

static void a_set_of_tags_keeps_the_last_victims(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws:tags=4,ways=2", 2); /* two sets: even and odd lines */
    issue_times(&bench, 0b01, 4);
    for (uint64_t line = 2; line <= 6; line += 2)
        bench_l1(&bench, SCHED_L1_EVICTION, 0, line * LINE);
    bench_l1(&bench, SCHED_L1_EVICTION, 0, LINE);
    bench_l1(&bench, SCHED_L1_MISS, 0, 2 * LINE); /* replaced by 6 */
    EXPECT_ISSUES(&bench, 0b10, 1);
    bench_l1(&bench, SCHED_L1_MISS, 0, 4 * LINE);
    EXPECT_ISSUES(&bench, 0b10, SCHED_NONE);
    bench_end(&bench);
}

static void a_new_warp_has_the_base_score_and_changes_the_cutoff(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 3);
    issue_times(&bench, 0b001, 12);
    lose(&bench, 1, LINE); /* 1 / 12 x 8 x 300 = 200 */
    EXPECT_ISSUES(&bench, 0b100, SCHED_NONE);
    bench_leave(&bench, 1);
    EXPECT_ISSUES(&bench, 0b100, 2); /* cutoff 200 */
    bench_arrive(&bench, 1);
    EXPECT_ISSUES(&bench, 0b010, 1);
    EXPECT_ISSUES(&bench, 0b100, 2);
    bench_end(&bench);
}

static void a_warp_at_a_barrier_throttles_no_others(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 3);
    issue_times(&bench, 0b001, 12);
    lose(&bench, 1, LINE); /* 1 / 12 x 8 x 300 = 200 */
    EXPECT_ISSUES(&bench, 0b100, SCHED_NONE);
    bench_stall(&bench, 1, WAITS_PENDING);
    EXPECT_ISSUES(&bench, 0b100, 2);
    bench_wake(&bench, 1);
    EXPECT_ISSUES(&bench, 0b100, SCHED_NONE);
    bench_end(&bench);
}

static void stores_do_not_look_for_tags(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "ccws", 2);
    issue_times(&bench, 0b01, 4);
    bench_l1(&bench, SCHED_L1_EVICTION, 0, LINE);
    bench.ops->l1(bench.state, &bench.view,
                  &(struct sched_l1_event){.kind = SCHED_L1_MISS, .slot = 0, .is_store = true, .line = LINE});
    EXPECT_ISSUES(&bench, 0b10, 1);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_lost_locality_it_is_gto),
        cmocka_unit_test(a_raised_score_keeps_the_youngest_warps_from_loading),
        cmocka_unit_test(a_score_falls_by_one_in_each_cycle_to_the_base),
        cmocka_unit_test(the_first_warp_may_always_load),
        cmocka_unit_test(equal_scores_are_ordered_by_age),
        cmocka_unit_test(a_warp_finds_only_its_own_tags_and_each_only_once),
        cmocka_unit_test(a_set_of_tags_keeps_the_last_victims),
        cmocka_unit_test(a_new_warp_has_the_base_score_and_changes_the_cutoff),
        cmocka_unit_test(a_warp_at_a_barrier_throttles_no_others),
        cmocka_unit_test(stores_do_not_look_for_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
