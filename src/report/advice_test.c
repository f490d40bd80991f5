/* Each rule of advice.def, from counters that trigger it and only it. */
#include "report/advice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

/* A run of 1000 cycles on four SMs with two schedulers, warps of 32, one port in the L1, two slices and two channels.
 */
struct sample {
    struct config_machine machine;
    struct report_target target;
    struct report_run run;
    struct stats_counters *counters;
};

static void set_up(struct sample *sample) {
    *sample = (struct sample){0};
    config_defaults(&sample->machine);
    sample->machine.sm.count = 4;
    sample->machine.l2.cache.banks = 2;
    sample->machine.dram.channels = 2;
    sample->target =
        (struct report_target){.machine = "m", .lanes = 32, .channels = 2, .peaks = report_peaks_of(&sample->machine)};
    sample->run.target = &sample->target;
    sample->run.n_launches = 1;
    sample->counters = &sample->run.total.counters;
    sample->counters->cycles = 1000;
    sample->counters->sm_cycles = 4000;
    sample->counters->active_cycles = 1000;
    sample->counters->stall_dependency = 2000;
    sample->counters->warp_instructions = 1000;
    sample->counters->thread_instructions = 32000;
    sample->counters->blocks = 100;
}

static void expect(const struct sample *sample, const char *limiter, const char *evidence) {
    struct report_advice advice = report_advise(&sample->run);
    assert_string_equal(advice.limiter, limiter);
    if (!strstr(advice.evidence, evidence))
        fail_msg("'%s' is not in '%s'", evidence, advice.evidence);
    assert_true(strlen(advice.next) > 0);
}

static void shares_are_work_over_peak(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->l1_accesses = 1000;
    sample.counters->l2_accesses = 500;
    sample.counters->crossbar_bytes = 32000;
    sample.counters->bus_busy_cycles = 300;
    struct report_evidence x = report_evidence_of(&sample.run);
    assert_true(x.use[REPORT_ISSUE] == 1000 / (1000.0 * 4 * 2)); /* four SMs with two schedulers */
    assert_true(x.use[REPORT_L1] == 1000 / (1000.0 * 4));
    assert_true(x.use[REPORT_L2] == 500 / (1000.0 * 2));
    assert_true(x.use[REPORT_CROSSBAR] == 32000 / (1000.0 * 2 * 2 * 32)); /* two links of 32 bytes, both directions */
    assert_true(x.use[REPORT_DRAM] == 300 / (1000.0 * 2));
    sample.machine.memory.is_perfect = true;
    sample.target.peaks = report_peaks_of(&sample.machine);
    x = report_evidence_of(&sample.run);
    assert_true(x.use[REPORT_DRAM] == 0 && x.use[REPORT_L1] == 0);
}

static void machine_instructions_fill_the_slots_of_a_lowered_target(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->machine_instructions = 2000;
    assert_true(report_evidence_of(&sample.run).use[REPORT_ISSUE] == 2000 / (1000.0 * 4 * 2));
}

static void a_busy_unit_is_the_limit_whatever_the_stalls(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->l1_accesses = 2400;
    sample.counters->long_instructions = 300;
    expect(&sample, "L1 bandwidth", "touches 8.0 lines");
    sample.counters->l2_accesses = 1200;
    expect(&sample, "L2 bandwidth", "60 % busy");
    sample.counters->crossbar_bytes = 51200;
    expect(&sample, "crossbar bandwidth", "40 % busy");
    sample.counters->bus_busy_cycles = 1200;
    sample.counters->row_hits = 3;
    sample.counters->row_conflicts = 1;
    expect(&sample, "DRAM bandwidth", "in 60 % of the cycles; 75 % of its accesses");
}

static void a_busy_sm_is_limited_by_issue_or_by_idle_lanes(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->active_cycles = 2000;
    expect(&sample, "issue", "in 50 % of their cycles and fill 12 % of the slots");
    sample.counters->thread_instructions = 8000;
    expect(&sample, "idle lanes", "only 8.0 of 32 lanes");
}

static void otherwise_the_largest_stall_is(void **state) {
    (void)state;
    static const struct {
        unsigned at;
        const char *limiter;
    } rules[] = {
        {STATS_AT_stall_dependency, "dependent instructions"},
        {STATS_AT_stall_barrier, "barriers"},
        {STATS_AT_stall_fetch, "instruction fetch"},
        {STATS_AT_stall_structural, "a unit of the SM"},
        {STATS_AT_stall_memory, "memory latency"},
        {STATS_AT_stall_empty, "tail"},
    };
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct sample sample;
        set_up(&sample);
        sample.counters->value[rules[i].at] = 2400;
        expect(&sample, rules[i].limiter, "60 %");
    }
}

static void the_cause_of_a_stall_is_told_apart(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->stall_memory = 2400;
    sample.counters->l1_accesses = 400;
    sample.counters->long_instructions = 100;
    expect(&sample, "uncoalesced accesses", "touches 4.0 lines");
    set_up(&sample);
    sample.counters->stall_empty = 2400;
    sample.counters->blocks = 6;
    sample.run.n_launches = 2;
    expect(&sample, "few blocks", "3 blocks for 4 SMs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_work_over_peak),
        cmocka_unit_test(machine_instructions_fill_the_slots_of_a_lowered_target),
        cmocka_unit_test(a_busy_unit_is_the_limit_whatever_the_stalls),
        cmocka_unit_test(a_busy_sm_is_limited_by_issue_or_by_idle_lanes),
        cmocka_unit_test(otherwise_the_largest_stall_is),
        cmocka_unit_test(the_cause_of_a_stall_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
