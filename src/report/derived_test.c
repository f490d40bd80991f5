/* Tests of statistics derived from counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"

static const struct report_target target = {.machine = "m", .lanes = 16, .channels = 4};

static double value(const char *name, const struct stats_counters *counters) {
    for (unsigned i = 0; i < report_n_derived; i++)
        if (strcmp(report_derived[i].name, name) == 0)
            return report_derived[i].value(counters, &target);
    fail_msg("no statistic '%s'", name);
    return 0;
}

static void rates_follow_from_counters(void **state) {
    (void)state;
    struct stats_counters counters = {.cycles = 100,
                                      .warp_instructions = 50,
                                      .thread_instructions = 400,
                                      .sm_cycles = 300,
                                      .active_cycles = 45,
                                      .row_hits = 3,
                                      .row_conflicts = 1,
                                      .bus_busy_cycles = 40};
    assert_true(value("ipc", &counters) == 4);
    assert_true(value("average_active_threads", &counters) == 8);
    assert_true(value("simd_efficiency", &counters) == 0.5); /* of 16 lanes */
    assert_true(report_simd_efficiency(&counters, NULL) == 0.25);
    assert_true(value("idle_cycles", &counters) == 255);
    assert_true(value("row_hit_rate", &counters) == 0.75);
    assert_true(value("bus_utilization", &counters) == 0.1); /* of 4 channels */
}

static void a_rate_without_a_denominator_is_nan(void **state) {
    (void)state;
    struct stats_counters counters = {0};
    assert_true(isnan(value("ipc", &counters)));
    assert_true(isnan(value("row_hit_rate", &counters)));
    assert_true(isnan(value("bus_utilization", &counters)));
    assert_true(value("simd_efficiency", &counters) == 0);
}

static unsigned sum(const unsigned share[REPORT_N_SHARES]) {
    unsigned all = 0;
    for (unsigned i = 0; i < REPORT_N_SHARES; i++)
        all += share[i];
    return all;
}

static void shares_add_up_to_100_percent(void **state) {
    (void)state;
    unsigned share[REPORT_N_SHARES];
    struct stats_counters counters = {.active_cycles = 1,
                                      .stall_memory = 1,
                                      .stall_dependency = 1,
                                      .stall_barrier = 1,
                                      .stall_fetch = 1,
                                      .stall_structural = 1,
                                      .stall_empty = 1};
    report_shares(&counters, share);
    assert_int_equal(sum(share), 1000);
    for (unsigned i = 0; i < REPORT_N_SHARES; i++)
        assert_true(share[i] == 142 || share[i] == 143); /* 142.86 of 1000 */
    counters = (struct stats_counters){.active_cycles = 2, .stall_empty = 1};
    report_shares(&counters, share);
    assert_int_equal(share[0], 667);
    assert_int_equal(share[6], 333);
    counters = (struct stats_counters){0};
    report_shares(&counters, share);
    assert_int_equal(sum(share), 0);
}

static void each_kind_of_stall_has_its_share(void **state) {
    (void)state;
    unsigned share[REPORT_N_SHARES];
    struct stats_counters counters = {.active_cycles = 100,
                                      .stall_memory = 110,
                                      .stall_dependency = 120,
                                      .stall_barrier = 130,
                                      .stall_fetch = 150,
                                      .stall_structural = 190,
                                      .stall_empty = 200};
    report_shares(&counters, share);
    static const unsigned expected[REPORT_N_SHARES] = {100, 110, 120, 130, 150, 190, 200};
    assert_memory_equal(share, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_follow_from_counters),
        cmocka_unit_test(a_rate_without_a_denominator_is_nan),
        cmocka_unit_test(shares_add_up_to_100_percent),
        cmocka_unit_test(each_kind_of_stall_has_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
