/* Fits sums of counts to numbers, for --estimate: the driver decides with it how many sections it times (gpu/draw.c),
 * and the report predicts those that were not timed (report/sample.c). */
#include "stats/fit.h"

#include <stdbool.h>
#include <string.h>

enum { STEPS = 60, NUMBERS_PER_FEATURE = 3 };

void stats_fit_add(struct stats_fit *fit, const double *feature, double value) {
    double weight = 1 / ((value + 1) * (value + 1));
    fit->n++;
    fit->square += weight * value * value;
    for (unsigned a = 0; a < fit->n_features; a++) {
        fit->right[a] += weight * feature[a] * value;
        for (unsigned b = 0; b < fit->n_features; b++)
            fit->product[a][b] += weight * feature[a] * feature[b];
    }
}

/* Fits the features that `is_used` marks, factor by factor. Returns the sum of squares that is left. */
static double descend(const struct stats_fit *fit, const bool *is_used, double *factor) {
    memset(factor, 0, STATS_MOST_FEATURES * sizeof *factor);
    for (unsigned step = 0; step < STEPS; step++)
        for (unsigned a = 0; a < fit->n_features; a++) {
            double rest = fit->right[a];
            for (unsigned b = 0; b < fit->n_features; b++)
                rest -= b == a ? 0 : fit->product[a][b] * factor[b];
            factor[a] = is_used[a] && fit->product[a][a] > 0 && rest > 0 ? rest / fit->product[a][a] : 0;
        }
    double square = fit->square;
    for (unsigned a = 0; a < fit->n_features; a++) {
        square -= 2 * factor[a] * fit->right[a];
        for (unsigned b = 0; b < fit->n_features; b++)
            square += factor[a] * factor[b] * fit->product[a][b];
    }
    return square;
}

void stats_fit_solve(struct stats_fit *fit) {
    bool is_used[STATS_MOST_FEATURES] = {false};
    double factor[STATS_MOST_FEATURES], left = fit->square;
    unsigned most = fit->n / NUMBERS_PER_FEATURE ? fit->n / NUMBERS_PER_FEATURE : 1;
    fit->n_used = 0;
    memset(fit->factor, 0, sizeof fit->factor);
    while (fit->n_used < most) {
        unsigned best = fit->n_features;
        for (unsigned a = 0; a < fit->n_features; a++) {
            if (is_used[a])
                continue;
            is_used[a] = true;
            double square = descend(fit, is_used, factor);
            is_used[a] = false;
            if (square < left) {
                left = square;
                best = a;
            }
        }
        if (best == fit->n_features)
            break;
        is_used[best] = true;
        descend(fit, is_used, fit->factor);
        fit->n_used++;
    }
}

double stats_fit_predict(const struct stats_fit *fit, const double *feature) {
    double sum = 0;
    for (unsigned a = 0; a < fit->n_features; a++)
        sum += fit->factor[a] * feature[a];
    return sum;
}

/* The choice of the features counts as one more factor. */
double stats_fit_scale(const struct stats_fit *fit) {
    unsigned n = fit->n, n_fitted = fit->n_used + 1;
    return n > n_fitted ? (double)n / (n - n_fitted) : n ? n : 1;
}
