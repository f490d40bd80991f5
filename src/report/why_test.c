/* Explanations: causes add up exactly, launches and lines are paired. */
#include "report/why.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct report_target lrr = {.machine = "m", .scheduler = "lrr", .divergence = "stack", .lanes = 32},
                                  gto = {.machine = "m", .scheduler = "gto", .divergence = "stack", .lanes = 32},
                                  dwf = {.machine = "m", .scheduler = "lrr", .divergence = "dwf", .lanes = 32};

/* Three SMs. Half of the lanes are active. */
static struct stats_counters counters_of(uint64_t cycles, uint64_t active, uint64_t memory) {
    return (struct stats_counters){.cycles = cycles,
                                   .sm_cycles = 3 * cycles,
                                   .warp_instructions = 100,
                                   .thread_instructions = 1600,
                                   .active_cycles = active,
                                   .stall_memory = memory,
                                   .stall_empty = 3 * cycles - active - memory,
                                   .empty_unused = 3 * cycles - active - memory};
}

static struct report_run run_of(const struct report_target *target, struct stats_counters counters) {
    struct report_run run = {.program = "p", .target = target};
    run.total.counters = counters;
    return run;
}

static void causes_add_up_to_the_difference(void **state) {
    (void)state;
    struct base_arena arena = {0};
    for (uint64_t i = 0; i < 200; i++) {
        struct report_run a = run_of(&lrr, counters_of(1000 + i, 501 + i, 700 + 3 * i / 2)),
                          b = run_of(&gto, counters_of(900 + 2 * i, 503, 401 + i));
        struct report_why why = report_explain(&a, &b, &arena);
        int64_t sum = 0;
        for (unsigned k = 0; k < REPORT_N_CAUSES; k++)
            sum += why.cause[k];
        assert_int_equal(sum, (int64_t)(900 + 2 * i) - (int64_t)(1000 + i));
    }
    base_arena_free(&arena);
}

/* 3000 SM cycles become 1000 cycles: 600 active ones are 200, half of them with idle lanes. */
static void cycles_are_divided_in_proportion(void **state) {
    (void)state;
    uint64_t cycles[REPORT_N_CAUSES];
    struct stats_counters counters = counters_of(1000, 600, 1500);
    report_cause_cycles(&counters, &lrr, cycles);
    assert_int_equal(cycles[REPORT_CAUSE_ISSUE], 100);
    assert_int_equal(cycles[REPORT_CAUSE_DIVERGENCE], 100);
    assert_int_equal(cycles[REPORT_CAUSE_MEMORY], 500);
    assert_int_equal(cycles[REPORT_CAUSE_UNUSED], 300);
}

static void the_sentence_names_the_largest_causes(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct report_run a = run_of(&lrr, counters_of(2000, 600, 4500)), b = run_of(&gto, counters_of(1000, 600, 1500));
    struct report_why why = report_explain(&a, &b, &arena);
    assert_string_equal(report_why_sentence(&why, &arena),
                        "gto takes 1,000 cycles less than lrr (-50.0 %): memory -1,000");
    base_arena_free(&arena);
}

static struct report_kernel launch_of(const char *name, uint64_t cycles) {
    return (struct report_kernel){.name = name, .n_launches = 1, .counters.cycles = cycles};
}

static void launches_are_paired_by_number_or_by_kernel(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct report_kernel first[] = {launch_of("f", 10), launch_of("g", 50), launch_of("f", 10)};
    struct report_kernel second[] = {launch_of("f", 12), launch_of("g", 20), launch_of("f", 11)};
    struct report_run a = run_of(&lrr, counters_of(70, 30, 90)), b = run_of(&gto, counters_of(43, 30, 40));
    a.launch = first;
    b.launch = second;
    a.n_launches = b.n_launches = 3;
    struct report_why why = report_explain(&a, &b, &arena);
    assert_int_equal(why.n_launches, 3);
    assert_int_equal(why.launch[0].number, 2);
    assert_int_equal(why.launch[0].before, 50);
    assert_int_equal(why.launch[0].after, 20);
    b.n_launches = 2;
    why = report_explain(&a, &b, &arena);
    assert_int_equal(why.n_launches, 2);
    assert_int_equal(why.launch[0].number, 0);
    assert_string_equal(why.launch[1].kernel, "f");
    assert_int_equal(why.launch[1].before, 20);
    assert_int_equal(why.launch[1].after, 12);
    base_arena_free(&arena);
}

/* Line 5 has two instructions. It waits less for memory; line 6 issues less often, with more lanes. */
static void lines_are_ranked_by_the_kind_of_the_comparison(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct report_line before[] = {
        {.source_line = 5, .file = "a.cu", .counters = {.executed = 10, .active_lanes = 100, .stall_memory = 300}},
        {.source_line = 5, .file = "a.cu", .counters = {.executed = 10, .active_lanes = 100, .stall_memory = 200}},
        {.source_line = 6, .file = "a.cu", .counters = {.executed = 40, .active_lanes = 320, .stall_fetch = 30}},
        {.line = 9, .counters = {.executed = 1, .active_lanes = 32}}};
    struct report_line after[4];
    memcpy(after, before, sizeof after);
    after[0].counters.stall_memory = 100;
    after[2].counters.executed = 10;
    struct report_listing first = {"k", 1, 4, before}, second = {"k", 1, 4, after};
    struct report_run a = run_of(&lrr, counters_of(70, 30, 90)), b = run_of(&gto, counters_of(43, 30, 40));
    a.listing = &first;
    b.listing = &second;
    a.n_listings = b.n_listings = 1;
    struct report_why why = report_explain(&a, &b, &arena);
    assert_int_equal(why.n_lines, 1); /* the only one that waits for memory */
    assert_int_equal(why.line[0].line, 5);
    assert_int_equal(why.line[0].before.stall_memory, 500);
    assert_int_equal(why.line[0].after.stall_memory, 300);
    b.target = &dwf;
    why = report_explain(&a, &b, &arena);
    assert_int_equal(why.n_lines, 1);
    assert_int_equal(why.line[0].line, 6);
    b.target = &lrr;
    why = report_explain(&a, &b, &arena);
    assert_int_equal(why.n_lines, 2); /* the PTX line has not changed */
    assert_int_equal(why.line[0].line, 5);
    assert_int_equal(why.line[0].stall, STATS_LINE_STALL_memory);
    base_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_add_up_to_the_difference),
        cmocka_unit_test(cycles_are_divided_in_proportion),
        cmocka_unit_test(the_sentence_names_the_largest_causes),
        cmocka_unit_test(launches_are_paired_by_number_or_by_kernel),
        cmocka_unit_test(lines_are_ranked_by_the_kind_of_the_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
