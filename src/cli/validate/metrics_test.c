/* Tests of differences between metrics: of counts and shares, of values that one side lacks, and their ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/validate/fixture.h"

enum { INSTRUCTIONS, THREADS, PREDICATED, ACCESSES, CONFLICTS, LOADED, HITS }; /* the first rows of metrics.def */

static const struct report_peaks peaks = {.l1_line_bytes = 128, .line_bytes = 32, .warps = 64};

static struct cli_recorded unknown(const char *name) {
    struct cli_recorded recorded = {.workload = name, .size = "medium"};
    for (unsigned m = 0; m < CLI_N_METRICS; m++)
        recorded.metric[m].sum = recorded.metric[m].per = NAN;
    return recorded;
}

static void set(struct cli_recorded *recorded, unsigned metric, double sum, double per) {
    recorded->metric[metric].sum = sum;
    recorded->metric[metric].per = per;
}

static void counts_differ_relative_to_the_larger(void **state) {
    (void)state;
    struct cli_recorded real = unknown("a");
    set(&real, INSTRUCTIONS, 100, 1);
    struct cli_measured measured = {.real = &real, .peaks = &peaks};
    measured.counters.machine_instructions = 80;
    assert_float_equal(cli_metric_difference(INSTRUCTIONS, &measured), -0.2, 1e-12);
    measured.counters.machine_instructions = 200;
    assert_float_equal(cli_metric_difference(INSTRUCTIONS, &measured), 0.5, 1e-12);
    measured.counters.machine_instructions = 0;
    assert_float_equal(cli_metric_difference(INSTRUCTIONS, &measured), -1, 1e-12);
}

static void active_threads_are_those_of_machine_instructions(void **state) {
    (void)state;
    struct cli_recorded real = unknown("a");
    set(&real, THREADS, 2000, 100);
    struct cli_measured measured = {.real = &real, .peaks = &peaks};
    measured.counters.machine_instructions = 10;
    measured.counters.machine_thread_instructions = 160;
    measured.counters.warp_instructions = 20;
    measured.counters.thread_instructions = 80;
    assert_float_equal(cli_metric_difference(THREADS, &measured), -0.2, 1e-12);
    set(&real, PREDICATED, 800, 100);
    assert_float_equal(cli_metric_difference(PREDICATED, &measured), -0.5, 1e-12);
}

static void sectors_are_parts_of_lines(void **state) {
    (void)state;
    struct cli_recorded real = unknown("a");
    set(&real, LOADED, 24, 1);
    struct cli_measured measured = {.real = &real, .peaks = &peaks};
    measured.counters.l1_accesses = 8;
    measured.counters.l1_writes = 2;
    assert_float_equal(cli_metric_difference(LOADED, &measured), 0, 1e-12); /* 6 lines of 4 sectors */
}

static void shares_differ_by_points(void **state) {
    (void)state;
    struct cli_recorded real = unknown("a");
    set(&real, HITS, 30, 100);
    struct cli_measured measured = {.real = &real, .peaks = &peaks};
    measured.counters.l1_accesses = 10;
    measured.counters.l1_misses = 8;
    measured.counters.l1_merges = 2; /* lines on their way are hits */
    assert_float_equal(cli_metric_difference(HITS, &measured), 0.1, 1e-12);
}

static void a_value_that_is_unknown_or_zero_on_both_sides_has_no_difference(void **state) {
    (void)state;
    struct cli_recorded real = unknown("a");
    struct cli_measured measured = {.real = &real, .peaks = &peaks};
    measured.counters.machine_instructions = 80;
    assert_true(isnan(cli_metric_difference(INSTRUCTIONS, &measured)));
    set(&real, CONFLICTS, 0, 1);
    assert_true(isnan(cli_metric_difference(CONFLICTS, &measured)));
}

static void the_time_of_warps_is_divided_by_reasons(void **state) {
    (void)state;
    struct cli_recorded real = unknown("a");
    struct cli_measured measured = {.real = &real, .peaks = &peaks, .registers = 40};
    measured.counters.machine_instructions = 10;
    measured.lines.stall_memory = 40;
    measured.lines.stall_dependency = 20;
    measured.lines.stall_barrier = 5;
    measured.lines.stall_fetch = 10;
    measured.lines.stall_ready = 15;
    measured.counters.sm_cycles = 20;
    measured.counters.stall_empty = 5;
    measured.counters.fetch_start = 5;
    assert_float_equal(cli_metric_simulated(row("warp cycles per instruction"), &measured), 10, 1e-12);
    assert_float_equal(cli_metric_simulated(row("stalls for memory"), &measured), 0.4, 1e-12);
    assert_float_equal(cli_metric_simulated(row("stalls for results"), &measured), 0.2, 1e-12);
    assert_float_equal(cli_metric_simulated(row("stalls at barriers"), &measured), 0.05, 1e-12);
    assert_float_equal(cli_metric_simulated(row("stalls for instructions"), &measured), 0.1, 1e-12);
    assert_float_equal(cli_metric_simulated(row("stalls of ready warps"), &measured), 0.15, 1e-12);
    /* 100 warp cycles in 10 cycles of an SM that has room for 64 */
    assert_float_equal(cli_metric_simulated(row("occupancy"), &measured), 10.0 / 64, 1e-12);
    set(&real, row("registers"), 50, 1);
    assert_float_equal(cli_metric_difference(row("registers"), &measured), -0.2, 1e-12);
}

static void programs_are_ranked_by_their_difference(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct cli_recorded near = unknown("near"), far = unknown("far");
    set(&near, INSTRUCTIONS, 100, 1);
    set(&far, INSTRUCTIONS, 100, 1);
    struct cli_measured measured[] = {{.real = &near, .peaks = &peaks}, {.real = &far, .peaks = &peaks}};
    measured[0].counters.machine_instructions = 90;
    measured[1].counters.machine_instructions = 200;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    cli_print_metrics(file, measured, 2, &arena);
    fclose(file);
    assert_non_null(strstr(text, "instructions         2  30.0 %  30.0 %               1"));
    assert_true(strstr(text, "far ") < strstr(text, "near "));
    assert_null(strstr(text, "bank conflicts"));
    free(text);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_differ_relative_to_the_larger),
        cmocka_unit_test(active_threads_are_those_of_machine_instructions),
        cmocka_unit_test(sectors_are_parts_of_lines),
        cmocka_unit_test(shares_differ_by_points),
        cmocka_unit_test(a_value_that_is_unknown_or_zero_on_both_sides_has_no_difference),
        cmocka_unit_test(the_time_of_warps_is_divided_by_reasons),
        cmocka_unit_test(programs_are_ranked_by_their_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
