/* Estimates from few launches, computed on paper. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/report.h"

enum { MOST = 16 };

struct test {
    struct report_kernel launch[MOST];
    struct report_run run;
};

/* cycles 0: it ran functionally */
static void add(struct test *test, const char *name, uint64_t instructions, uint64_t cycles) {
    struct report_kernel *launch = &test->launch[test->run.n_launches++];
    *launch = (struct report_kernel){
        .name = name, .n_launches = 1, .n_untimed = cycles == 0, .thread_instructions = instructions};
    launch->counters.cycles = cycles;
    test->run.launch = test->launch;
    test->run.total.n_untimed += cycles == 0;
    test->run.total.counters.cycles += cycles;
}

static void needs_launches_with_and_without_time_of_each_kernel(void **state) {
    (void)state;
    struct test test = {0};
    struct report_estimate estimate;
    add(&test, "a", 10, 100);
    assert_false(report_estimate(&test.run, &estimate));
    add(&test, "a", 10, 0);
    assert_true(report_estimate(&test.run, &estimate));
    add(&test, "b", 10, 0);
    assert_false(report_estimate(&test.run, &estimate));
}

static void one_timed_launch_gives_a_ratio_without_an_error(void **state) {
    (void)state;
    struct test test = {0};
    struct report_estimate estimate;
    add(&test, "a", 10, 100);
    add(&test, "a", 25, 0);
    assert_true(report_estimate(&test.run, &estimate));
    assert_float_equal(estimate.cycles, 350, 1e-9);
    assert_true(isnan(estimate.error));
    assert_int_equal(estimate.n_timed, 1);
    assert_int_equal(estimate.n_launches, 2);
}

/* Ratio 300 / 30 = 10: the rests are -5 and 5, their squares 50; one other launch: 50 / 1 * 1 * (1 + 1 / 2) = 75. */
static void two_timed_launches_give_a_ratio_and_its_error(void **state) {
    (void)state;
    struct test test = {0};
    struct report_estimate estimate;
    add(&test, "a", 10, 95);
    add(&test, "a", 20, 205);
    add(&test, "a", 30, 0);
    add(&test, "b", 7, 1000); /* complete: adds its cycles alone */
    assert_true(report_estimate(&test.run, &estimate));
    assert_float_equal(estimate.cycles, 300 + 300 + 1000, 1e-9);
    assert_true(fabs(estimate.error - 2 * sqrt(75)) < 1e-9);
}

static void four_timed_launches_give_a_line(void **state) {
    (void)state;
    struct test test = {0};
    struct report_estimate estimate;
    for (uint64_t x = 1; x <= 4; x++)
        add(&test, "a", x, 1000 + 10 * x);
    add(&test, "a", 100, 0);
    add(&test, "a", 200, 0);
    assert_true(report_estimate(&test.run, &estimate));
    assert_float_equal(estimate.cycles, 4 * 1000 + 100 + 2 * 1000 + 10 * 300, 1e-6);
    assert_float_equal(estimate.error, 0, 1e-3);
}

static void launches_of_one_size_give_their_mean(void **state) {
    (void)state;
    struct test test = {0};
    struct report_estimate estimate;
    for (int i = 0; i < 5; i++)
        add(&test, "a", 50, i % 2 ? 90 : 110);
    add(&test, "a", 50, 0);
    assert_true(report_estimate(&test.run, &estimate));
    assert_float_equal(estimate.cycles, 510 + 102, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_launches_with_and_without_time_of_each_kernel),
        cmocka_unit_test(one_timed_launch_gives_a_ratio_without_an_error),
        cmocka_unit_test(two_timed_launches_give_a_ratio_and_its_error),
        cmocka_unit_test(four_timed_launches_give_a_line),
        cmocka_unit_test(launches_of_one_size_give_their_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
