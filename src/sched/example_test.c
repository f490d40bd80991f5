/* Tests of the worked example of Liu et al. 2023, fig. 1, with the real policies.
 *
 * Warps 1 to 6; 1, 3, 5, 6 run L L S L and 2, 4 run S S L L; L takes 10 cycles, S takes 1. A string below has the warp
 * that issues in each cycle, '.' for none; the last one is an L, so the example ends 10 cycles after it. */
#include "sched/example.h"

#include "sched/fixture.h"

static void runs_as(const char *scheduler, const char *issues, uint32_t cycles) {
    const struct sched_ops *ops;
    void *options;
    char error[256];
    assert_true(sched_parse(scheduler, &ops, &options, error, sizeof error));
    struct sched_example_run run;
    assert_true(sched_example_run(&sched_liu2023_fig1, ops, options, &run));
    free(options);
    size_t last = strlen(issues) - 1;
    for (size_t cycle = 0; cycle <= last; cycle++)
        if ((run.issued[cycle] == SCHED_NONE ? '.' : '1' + run.issued[cycle]) != issues[cycle])
            fail_msg("%s issues warp %d in cycle %zu, not '%c'", scheduler, run.issued[cycle] + 1, cycle,
                     issues[cycle]);
    for (size_t cycle = last + 1; cycle < SCHED_EXAMPLE_MAX_CYCLES; cycle++)
        assert_int_equal(run.issued[cycle], SCHED_NONE);
    assert_int_equal(run.n_issued, 24);
    assert_int_equal(run.cycles, cycles);
    assert_int_equal(cycles, last + 10);
}

/* Each warp once per round, in order. The second round begins when the result of 1's first L arrives (cycle 10), the
 * third with that of its second (20). In the third, 2 and 4 issue their first L and 1, 3, 5, 6 their S. So 1 can begin
 * the fourth at once (26), but 2 only at 21 + 10 = 31 (cycles 27 to 30 are idle, though 3 is ready): 2 at 31, 6 at 35,
 * done at 45. */
static void strict_round_robin_takes_45_cycles(void **state) {
    (void)state;
    runs_as("srr", "123456....123456....1234561....23456", 45);
}

/* 2 and 4 are ready every cycle and alternate in the gaps, S S L L: L at 8 and 9. The others issue when their L
 * completes: 1 at 10, 3 at 12, 5 and 6 at 14 and 15; 2 and 4 issue their last at 18 and 19. 1's second L completes at
 * 20: it issues S, and its last L at 21, since 3 waits until 22; so does 3 at 22 and 23. 5 and 6 continue at 24 and 25:
 * 5 6 5 6, the last at 27, done at 37. The paper's figure shows 39. */
static void loose_round_robin_takes_37_cycles_not_the_papers_39(void **state) {
    (void)state;
    runs_as("lrr", "12345624241.3.56..2411335656", 37);
}

/* 2 and 4 keep the pipeline for S S L each, which delays the first L of 5 and 6 until 8 and 9. Their second issues at
 * 18 and 19 and completes at 28 and 29: 5 5 6 6, the last at 31. The others are done by then: 1 at 20 and 21, 3 at 24
 * and 25. */
static void greedy_then_oldest_takes_41_cycles(void **state) {
    (void)state;
    runs_as("gto", "12223444561..23..45611..33..5566", 41);
}

/* All L first: 1 3 5 6, then 2 with S S L, 4 with S S L; 1 3 5 6 again as they complete at 10, 11, 12, 13; the last L
 * of 2 at 16 and of 4 at 19; from 20 on 1, 3, 5, 6 with S and L each, as they complete, the last at 27. */
static void lfws_takes_37_cycles(void **state) {
    (void)state;
    runs_as("lfws", "13562224441356..2..411335566", 37);
}

static void an_example_that_does_not_end_fails(void **state) {
    (void)state;
    static const char *const warp[] = {"LL"};
    struct sched_example example = {.n_warps = 1, .warp = warp, .long_cycles = 256, .short_cycles = 1};
    struct sched_example_run run;
    assert_false(sched_example_run(&example, sched_find("lrr"), NULL, &run));
    example.long_cycles = 254; /* the second L issues at 254, and at 255 no warp is left */
    assert_true(sched_example_run(&example, sched_find("lrr"), NULL, &run));
    assert_int_equal(run.cycles, 508);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_round_robin_takes_45_cycles),
        cmocka_unit_test(loose_round_robin_takes_37_cycles_not_the_papers_39),
        cmocka_unit_test(greedy_then_oldest_takes_41_cycles),
        cmocka_unit_test(lfws_takes_37_cycles),
        cmocka_unit_test(an_example_that_does_not_end_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
