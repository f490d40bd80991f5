/* Predictions fitted to a few numbers. */
#include "stats/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 400 + 3 a, among features that have nothing to do with it. */
static double value(unsigned i, double feature[4]) {
    feature[0] = 1;
    feature[1] = 100 + 37 * (i * i % 23);
    feature[2] = 1000 + 10 * (i % 3);
    feature[3] = i % 5;
    return 400 + 3 * feature[1];
}

static struct stats_fit fit(unsigned n) {
    struct stats_fit fit = {.n_features = 4};
    double feature[4];
    for (unsigned i = 0; i < n; i++) {
        double number = value(i, feature);
        stats_fit_add(&fit, feature, number);
    }
    stats_fit_solve(&fit);
    return fit;
}

static void factors_are_found(void **state) {
    (void)state;
    struct stats_fit found = fit(20);
    double feature[4];
    for (unsigned i = 20; i < 30; i++) {
        double number = value(i, feature);
        assert_true(fabs(stats_fit_predict(&found, feature) - number) < 0.02 * number);
    }
}

static void few_numbers_are_fitted_by_fewer_features(void **state) {
    (void)state;
    assert_int_equal(fit(2).n_used, 1);
    assert_int_equal(fit(5).n_used, 1);
    assert_in_range(fit(8).n_used, 1, 2);
}

static void squares_are_scaled_by_the_freedom_that_is_left(void **state) {
    (void)state;
    struct stats_fit found = fit(5);
    assert_true(fabs(stats_fit_scale(&found) - 5.0 / 3) < 1e-9);
    found = fit(2); /* none is left */
    assert_true(stats_fit_scale(&found) == 2);
}

static void no_factor_is_negative(void **state) {
    (void)state;
    struct stats_fit found = {.n_features = 2};
    for (unsigned i = 1; i < 20; i++)
        stats_fit_add(&found, (const double[]){1, i}, 100 - i);
    stats_fit_solve(&found);
    assert_true(found.factor[0] > 80 && found.factor[0] < 100);
    assert_true(found.factor[1] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_found),
        cmocka_unit_test(few_numbers_are_fitted_by_fewer_features),
        cmocka_unit_test(squares_are_scaled_by_the_freedom_that_is_left),
        cmocka_unit_test(no_factor_is_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
