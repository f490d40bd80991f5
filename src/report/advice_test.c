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
    expect(&sample, "L1 bandwidth", "touches 8.0 cache lines");
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
    expect(&sample, "divergence", "only 8.0 of 32 lanes");
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
    sample.counters->requested_bytes = 400 * 128; /* all bytes of their lines: wide accesses */
    expect(&sample, "memory latency", "60 %");
    sample.counters->requested_bytes = 400 * 32;
    expect(&sample, "uncoalesced accesses", "touches 4.0 cache lines but uses only 25 %");
    sample.counters->atomics = 400;
    expect(&sample, "atomics", "50 % of the accesses");
    set_up(&sample);
    sample.counters->stall_empty = sample.counters->empty_unused = 2400;
    sample.counters->blocks = 6;
    sample.run.n_launches = 2;
    expect(&sample, "few blocks", "3 blocks on average, for 4 SMs");
    sample.counters->empty_unused = 1000;
    sample.counters->empty_tail = 1400;
    sample.counters->stall_dependency = 0;
    sample.counters->block_cycles = 1500;
    expect(&sample, "tail", "35 % of their cycles; a block takes 250 cycles on average, and a launch 500");
    sample.counters->stall_fetch = sample.counters->fetch_start = 1500;
    expect(&sample, "launch start", "in 38 % of their cycles; a launch takes 500 cycles");
    sample.counters->fetch_start = 0;
    expect(&sample, "instruction fetch", "38 %");
}

static void units_of_an_sm_are_limits(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->special_thread_instructions = 1000 * 4 * sample.machine.sm.sfu_width * 6 / 10;
    expect(&sample, "special functions", "60 % busy");
    set_up(&sample);
    sample.counters->fp64_thread_instructions = (uint64_t)(1000 * 4 * sample.machine.sm.fp64_width * 0.6);
    expect(&sample, "double precision", "60 % busy");
    set_up(&sample);
    sample.counters->shared_passes = 2400;
    expect(&sample, "shared memory bandwidth", "60 % busy");
    sample.counters->bank_conflicts = 1200;
    expect(&sample, "bank conflicts", "60 % busy, and 50 % of its passes");
}

/* A third of an SM's warps is few only if the grid has enough blocks for it. */
static void few_warps_are_a_limit_of_a_grid_that_fills_them(void **state) {
    (void)state;
    struct sample sample;
    struct report_kernel launch = {.occupancy = {.blocks = 2, .warps = 16, .most_warps = 48, .limiter = "registers"}};
    set_up(&sample);
    sample.run.launch = &launch;
    launch.counters.blocks = 8;
    expect(&sample, "low occupancy", "only 33 % of their warps, limited by registers");
    launch.counters.blocks = 7;
    expect(&sample, "dependent instructions", "50 %");
}

static void the_evidence_names_the_line_that_costs_most(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->stall_memory = 2400;
    sample.run.hot[REPORT_HOT_LOADS] = (struct report_hot_line){"k", "src/a.cu", 41, 30, 40, 10, 31, 0};
    expect(&sample, "memory latency",
           "; 75 % of the time that loads take is that of line 41 of a.cu, with 3.1 cache lines per load");
    sample.run.hot[REPORT_HOT_LOADS].file = NULL;
    expect(&sample, "memory latency", "that of PTX line 41 of k,");
    set_up(&sample);
    sample.counters->active_cycles = 2000;
    sample.counters->thread_instructions = 8000;
    sample.run.hot[REPORT_HOT_BRANCHES] = (struct report_hot_line){"k", "a.cu", 7, 1, 2, 0, 0, 0};
    expect(&sample, "divergence", "; 50 % of the divergences are at line 7 of a.cu");
    sample.run.hot[REPORT_HOT_BRANCHES].second = 9;
    expect(&sample, "divergence", "; 50 % of the divergences are at lines 7 and 9 of a.cu");
    sample.run.hot[REPORT_HOT_BRANCHES].whole = 0;
    assert_null(strstr(report_advise(&sample.run).evidence, "line 7"));
}

/* 1000 of 4000 cycles issue with half of the lanes. */
static void a_second_cause_is_told_from_a_fifth_of_the_cycles_on(void **state) {
    (void)state;
    struct sample sample;
    set_up(&sample);
    sample.counters->bus_busy_cycles = 1200;
    sample.counters->stall_empty = sample.counters->empty_tail = 800;
    assert_null(strstr(report_advise(&sample.run).evidence, "others still work"));
    sample.counters->stall_empty = sample.counters->empty_tail = 840;
    expect(&sample, "DRAM bandwidth", "; SMs have finished while others still work in 21 % of their cycles");
    sample.counters->stall_fetch = 1000;
    expect(&sample, "DRAM bandwidth", "; SMs wait for instructions in 25 % of their cycles");
    sample.counters->bus_busy_cycles = sample.counters->stall_dependency = 0;
    expect(&sample, "instruction fetch", "25 % of their cycles; SMs have finished while others still work in 21 %");
}

static void causes_add_up_to_the_cycles(void **state) {
    (void)state;
    struct sample sample;
    uint64_t cycles[REPORT_N_CAUSES], sum = 0;
    set_up(&sample);
    sample.counters->thread_instructions = 16000;
    sample.counters->stall_fetch = 600;
    sample.counters->fetch_start = 500;
    sample.counters->stall_empty = 400;
    sample.counters->empty_start = 100;
    sample.counters->empty_unused = 100;
    sample.counters->empty_tail = 200;
    report_causes(sample.counters, &sample.target, cycles);
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++)
        sum += cycles[i];
    assert_int_equal(sum, 4000);
    assert_int_equal(cycles[REPORT_CAUSE_ISSUE], 500);
    assert_int_equal(cycles[REPORT_CAUSE_DIVERGENCE], 500);
    assert_int_equal(cycles[REPORT_CAUSE_FETCH], 100);
    assert_int_equal(cycles[REPORT_CAUSE_START], 600);
    assert_int_equal(cycles[REPORT_CAUSE_TAIL], 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_work_over_peak),
        cmocka_unit_test(machine_instructions_fill_the_slots_of_a_lowered_target),
        cmocka_unit_test(a_busy_unit_is_the_limit_whatever_the_stalls),
        cmocka_unit_test(a_busy_sm_is_limited_by_issue_or_by_idle_lanes),
        cmocka_unit_test(otherwise_the_largest_stall_is),
        cmocka_unit_test(the_cause_of_a_stall_is_told_apart),
        cmocka_unit_test(units_of_an_sm_are_limits),
        cmocka_unit_test(few_warps_are_a_limit_of_a_grid_that_fills_them),
        cmocka_unit_test(the_evidence_names_the_line_that_costs_most),
        cmocka_unit_test(a_second_cause_is_told_from_a_fifth_of_the_cycles_on),
        cmocka_unit_test(causes_add_up_to_the_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
