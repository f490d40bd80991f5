/* Predicts a number from a few counts: factors, none below 0, fitted to some known numbers. */
#pragma once

#include <stddef.h>

enum { STATS_MOST_FEATURES = 8 };

struct stats_fit {
    unsigned n_features, n;                                   /* n: numbers added */
    double product[STATS_MOST_FEATURES][STATS_MOST_FEATURES]; /* sums over the numbers, with weights */
    double right[STATS_MOST_FEATURES], square;
    double factor[STATS_MOST_FEATURES]; /* after stats_fit_solve() */
    unsigned n_used;                    /* of the features, in the prediction */
};

/* Adds a number with its features; n_features is set, all else was 0 at first. */
void stats_fit_add(struct stats_fit *fit, const double *feature, double value);
/* Least squares of the relative deviations. Takes features one at a time, each time the one that helps most, and at
 * most one for every three numbers, so that enough deviations are left to judge the prediction by. */
void stats_fit_solve(struct stats_fit *fit);
double stats_fit_predict(const struct stats_fit *fit, const double *feature);
/* Returns by how much squares of deviations are too small because the factors were fitted to them. */
double stats_fit_scale(const struct stats_fit *fit);
