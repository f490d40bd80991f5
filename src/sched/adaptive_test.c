/* Tests of the adaptive scheduler, on a machine whose clock the test advances. The candidates are loose round robin,
 * which takes slots 0, 1, 0, 1, and greedy then oldest, which stays where it is. */
#include "sched/fixture.h"

/* Runs `cycles` cycles; slots 0 and 1 can issue in the first `n_issues`. Expects the picks of 'r', round robin, or 'g',
 * greedy then oldest. */
static void expect_window(struct bench *bench, char expected, unsigned cycles, unsigned n_issues, int *last) {
    for (unsigned i = 0; i < cycles; i++, bench->view.cycle++) {
        if (i >= n_issues)
            continue;
        int slot = bench_issue(bench, 0b11), other = 1 - *last;
        if (slot != (expected == 'r' ? other : *last))
            fail_msg("cycle %u: slot %d is not that of '%c'", (unsigned)bench->view.cycle, slot, expected);
        *last = slot;
    }
}

static void start(struct bench *bench, const char *scheduler, int *last) {
    bench_start_full(bench, scheduler, 2);
    bench->view.cycle = 1000; /* an SM's clock does not restart at a launch */
    *last = bench_issue(bench, 0b01);
    bench->view.cycle++;
}

/* Windows of 10 begin at cycle 1000, where start() has issued. */
static void begin(struct bench *bench, const char *scheduler, int *last) {
    start(bench, scheduler, last);
    expect_window(bench, 'r', 9, 9, last);
}

static void the_best_of_the_measured_windows_gets_the_phase(void **state) {
    (void)state;
    struct bench bench;
    int last;
    begin(&bench, "adaptive:of=lrr+gto,window=10,phase=3", &last);
    expect_window(&bench, 'r', 10, 4, &last);  /* measured: 0.4 */
    expect_window(&bench, 'g', 10, 10, &last); /* not measured */
    expect_window(&bench, 'g', 10, 6, &last);  /* 0.6 */
    for (unsigned i = 0; i < 3; i++)
        expect_window(&bench, 'g', 10, 6, &last); /* the phase */
    expect_window(&bench, 'r', 20, 20, &last);    /* the next trial */
    expect_window(&bench, 'g', 10, 10, &last);
    expect_window(&bench, 'g', 10, 5, &last);
    expect_window(&bench, 'r', 10, 10, &last);
    bench_end(&bench);
}

static void the_first_of_equal_candidates_wins(void **state) {
    (void)state;
    struct bench bench;
    int last;
    begin(&bench, "adaptive:of=lrr+gto,window=10", &last);
    expect_window(&bench, 'r', 10, 10, &last);
    expect_window(&bench, 'g', 20, 20, &last);
    expect_window(&bench, 'r', 200, 200, &last);
    bench_end(&bench);
}

static void a_window_with_another_rate_starts_a_trial(void **state) {
    (void)state;
    struct bench bench;
    int last;
    begin(&bench, "adaptive:of=lrr+gto,window=10,phase=0,change=50", &last);
    expect_window(&bench, 'r', 10, 4, &last);
    expect_window(&bench, 'g', 20, 20, &last); /* its rate: 1 */
    expect_window(&bench, 'g', 10, 5, &last);  /* half of it is enough, */
    expect_window(&bench, 'g', 10, 4, &last);  /* but less is not */
    expect_window(&bench, 'r', 20, 20, &last); /* so a trial begins */
    expect_window(&bench, 'g', 20, 20, &last);
    expect_window(&bench, 'r', 500, 500, &last); /* endless, as long as nothing changes */
    bench_end(&bench);
}

static void without_change_a_phase_has_its_full_length(void **state) {
    (void)state;
    struct bench bench;
    int last;
    begin(&bench, "adaptive:of=lrr+gto,window=10,phase=2,change=0", &last);
    expect_window(&bench, 'r', 10, 4, &last);
    expect_window(&bench, 'g', 20, 20, &last);
    expect_window(&bench, 'g', 10, 1, &last);
    expect_window(&bench, 'g', 10, 10, &last);
    expect_window(&bench, 'r', 20, 20, &last);
    bench_end(&bench);
}

/* Without candidates pick() is not called: the window ends late, and its rate is over all its cycles. */
static void a_window_without_candidates_ends_late(void **state) {
    (void)state;
    struct bench bench;
    int last;
    begin(&bench, "adaptive:of=lrr+gto,window=10,phase=0", &last);
    expect_window(&bench, 'r', 40, 8, &last); /* 0.2; in ten cycles it would be 0.8 */
    expect_window(&bench, 'g', 10, 10, &last);
    expect_window(&bench, 'g', 10, 7, &last); /* 0.7 */
    expect_window(&bench, 'g', 100, 7, &last);
    bench_end(&bench);
}

/* At its first pick, greedy then oldest knows which slot issued last under round robin, and which slots have left. */
static void candidates_see_events_under_others(void **state) {
    (void)state;
    struct bench bench;
    int last;
    start(&bench, "adaptive:of=lrr+gto,window=10", &last);
    bench.view.cycle += 10;
    EXPECT_ISSUES(&bench, 0b11, 1);
    bench_leave(&bench, 0);
    bench.slot[0].age = 7;
    bench_arrive(&bench, 0);
    bench.view.cycle += 10;
    EXPECT_ISSUES(&bench, 0b11, 1); /* stays greedy */
    bench_leave(&bench, 1);
    bench.slot[1].age = 8;
    bench_arrive(&bench, 1);
    EXPECT_ISSUES(&bench, 0b11, 0); /* now the older one */
    bench_end(&bench);
}

static void candidates_see_waits(void **state) {
    (void)state;
    struct bench bench;
    bench_start_full(&bench, "adaptive:of=lrr+two-level-stall,window=10", 16);
    EXPECT_ISSUES(&bench, 0b1, 0);
    for (uint32_t slot = 0; slot < 8; slot++)
        bench_stall(&bench, slot, WAITS_LONG);
    bench_wake(&bench, 3);
    bench.view.cycle += 10;
    EXPECT_ISSUES(&bench, 0b1000, 3);
    bench.view.cycle += 10;
    EXPECT_ISSUES(&bench, 0b100001000, 8); /* its group is the top since all warps of the first waited */
    bench_end(&bench);
}

static void the_cost_counts_counters_and_candidates(void **state) {
    (void)state;
    struct bench bench;
    char formula[256];
    bench_start(&bench, "adaptive", 4);
    struct config_machine machine = {.sm = {.threads = 1536, .warp_size = 32, .schedulers = 2}};
    uint64_t lfws = 48;
    assert_int_equal(bench.ops->cost_bits(bench.options, &machine, formula, sizeof formula), lfws + 2 * 32 * (3 + 4));
    assert_non_null(strstr(formula, "48"));
    bench_end(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_the_measured_windows_gets_the_phase),
        cmocka_unit_test(the_first_of_equal_candidates_wins),
        cmocka_unit_test(a_window_with_another_rate_starts_a_trial),
        cmocka_unit_test(without_change_a_phase_has_its_full_length),
        cmocka_unit_test(a_window_without_candidates_ends_late),
        cmocka_unit_test(candidates_see_events_under_others),
        cmocka_unit_test(candidates_see_waits),
        cmocka_unit_test(the_cost_counts_counters_and_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
