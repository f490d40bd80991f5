/* Tests of dynamic block scheduling. Four blocks of one warp each, in slots 0 to 3. Eight blocks fit on the SM. */
#include "sched/fixture.h"

static uint32_t allowed(struct bench *bench) { return bench->ops->blocks(bench->state, &bench->view); }

static void start(struct bench *bench, const char *scheduler, uint32_t n_blocks) {
    bench_start(bench, scheduler, 8);
    allowed(bench); /* before the first block */
    for (uint32_t slot = 0; slot < n_blocks; slot++) {
        bench->slot[slot].block = slot;
        bench_arrive(bench, slot);
    }
}

enum kind { RUNS, MEMORY, REFUSED, BARRIER };

/* Lets `n` cycles pass in which no warp issues. */
static void pass(struct bench *bench, enum kind kind, unsigned n) {
    bench->waits_long = kind == MEMORY ? bench->occupied : bench_set(0);
    bench->pending = kind == BARRIER ? bench->occupied : bench_set(0);
    bench->next_long = bench->ready = kind == REFUSED ? bench->occupied : bench_set(0);
    for (unsigned i = 0; i < n; i++) {
        bench->view.cycle++;
        allowed(bench);
    }
}

static void half_of_the_blocks_start_and_at_least_one(void **state) {
    (void)state;
    static const struct { uint32_t most, expected; } row[] = {{8, 4}, {7, 3}, {2, 1}, {1, 1}};
    for (int i = 0; i < 4; i++) {
        struct bench bench;
        bench_start(&bench, "dyncta", 8);
        bench.view.most_blocks = row[i].most;
        assert_int_equal(allowed(&bench), row[i].expected);
        bench_end(&bench);
    }
}

static void the_rules_of_a_window(void **state) {
    (void)state;
    static const struct {
        unsigned idle, memory;
        uint32_t expected;
    } row[] = {
        {0, 0, 5},   {0, 127, 5},  {0, 128, 4},  {0, 383, 4},
        {0, 384, 3}, {0, 2048, 3}, {15, 384, 3}, {16, 384, 5}, /* idle cycles win */
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct bench bench;
        start(&bench, "dyncta", 4);
        pass(&bench, BARRIER, row[i].idle);
        pass(&bench, MEMORY, row[i].memory - (row[i].memory == 2048));
        unsigned rest = 2047 - (unsigned)bench.view.cycle;
        pass(&bench, RUNS, rest);
        assert_int_equal(allowed(&bench), 4); /* cycle 2047 */
        pass(&bench, row[i].memory == 2048 ? MEMORY : RUNS, 1);
        assert_int_equal(allowed(&bench), row[i].expected);
        bench_end(&bench);
    }
}

/* Warps whose loads the load/store unit does not take wait for memory as well. */
static void loads_that_cannot_issue_wait_for_memory(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "dyncta:window=10,idle=100,low=2,high=4", 4);
    pass(&bench, REFUSED, 4);
    pass(&bench, RUNS, 6);
    assert_int_equal(allowed(&bench), 3);
    pass(&bench, REFUSED, 10);
    assert_int_equal(allowed(&bench), 2);
    bench_end(&bench);
}

/* Windows of 10 cycles, with idle=1,low=2,high=4. */
static void the_number_stays_within_its_bounds_and_windows_start_from_zero(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "dyncta:window=10,idle=100,low=2,high=4", 4);
    for (uint32_t n = 5; n <= 10; n++) {
        pass(&bench, RUNS, 10);
        assert_int_equal(allowed(&bench), n < 8 ? n : 8);
    }
    for (int n = 7; n >= -2; n--) {
        pass(&bench, MEMORY, 10);
        assert_int_equal(allowed(&bench), n > 1 ? n : 1);
    }
    pass(&bench, MEMORY, 3); /* between low and high */
    pass(&bench, RUNS, 7);
    assert_int_equal(allowed(&bench), 1);
    pass(&bench, RUNS, 10);
    assert_int_equal(allowed(&bench), 2);
    bench_end(&bench);
}

/* The SM sleeps from cycle 2 to 9: its warps wait as at the end of cycle 1. */
static void cycles_in_which_the_sm_sleeps_count(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "dyncta:window=10,idle=100,low=8,high=8", 4);
    pass(&bench, MEMORY, 1);
    bench.view.cycle = 9;
    bench.waits_long = bench_set(0); /* in cycle 9 a warp wakes */
    allowed(&bench);
    bench.view.cycle = 10;
    assert_int_equal(allowed(&bench), 3); /* cycles 1 to 8 */
    bench_end(&bench);
}

static void a_cycle_with_an_issue_does_not_count(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "dyncta:window=10,idle=100,low=10,high=10", 4);
    pass(&bench, MEMORY, 9);
    bench.view.cycle = 10;
    bench_issue(&bench, 0b1); /* the last warp issues, and waits for memory again */
    assert_int_equal(allowed(&bench), 5);
    bench_end(&bench);
}

static void the_youngest_blocks_are_paused_and_issue_only_in_gaps(void **state) {
    (void)state;
    struct bench bench;
    start(&bench, "dyncta:window=10,idle=100,low=2,high=4", 4);
    EXPECT_ISSUES(&bench, 0b1000, 3);
    EXPECT_ISSUES(&bench, 0b1111, 3); /* greedy */
    pass(&bench, MEMORY, 20);         /* two blocks may run */
    EXPECT_ISSUES(&bench, 0b1110, 1);
    EXPECT_ISSUES(&bench, 0b1101, 0);
    EXPECT_ISSUES(&bench, 0b1100, 2); /* a gap */
    EXPECT_ISSUES(&bench, 0b1110, 1);
    bench_leave(&bench, 1); /* so block 2 runs */
    EXPECT_ISSUES(&bench, 0b1100, 2);
    EXPECT_ISSUES(&bench, 0b1101, 2);
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_blocks_start_and_at_least_one),
        cmocka_unit_test(the_rules_of_a_window),
        cmocka_unit_test(the_number_stays_within_its_bounds_and_windows_start_from_zero),
        cmocka_unit_test(cycles_in_which_the_sm_sleeps_count),
        cmocka_unit_test(a_cycle_with_an_issue_does_not_count),
        cmocka_unit_test(the_youngest_blocks_are_paused_and_issue_only_in_gaps),
        cmocka_unit_test(loads_that_cannot_issue_wait_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
