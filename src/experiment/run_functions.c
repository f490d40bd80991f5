/* Functions of a run in expressions beyond its statistics: histograms, time series, counts of threads. */
#include <math.h>
#include <string.h>

#include "experiment/values.h"

static double number_at(const json_t *array, size_t i) { return json_number_value(json_array_get(array, i)); }

/* lanes(from, to): the share of issues with that many active lanes. */
static double lanes(const json_t *result, double from, double to) {
    const json_t *array = json_object_get(result, "active_lanes");
    double some = 0, all = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        double n = number_at(array, i);
        all += n;
        some += (double)i >= from && (double)i <= to ? n : 0;
    }
    return all > 0 ? some / all : NAN;
}

/* diverged(n): how often groups diverged at the n-th executed branch of the text. */
static double diverged(const json_t *result, double n) {
    const json_t *array = json_object_get(result, "branches");
    double number = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *branch = json_array_get(array, i);
        if (json_integer_value(json_object_get(branch, "executed")) && ++number == n)
            return json_number_value(json_object_get(branch, "diverged"));
    }
    return NAN;
}

/* ---- Time series ------------------------------------------------------------------------------------------------- */

static size_t count_samples(const json_t *result, const char *series) {
    const json_t *launches = json_object_get(result, "samples");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(launches); i++)
        n += json_array_size(json_object_get(json_array_get(launches, i), series));
    return n;
}

/* The factor of a value that counts events per cycle; 1 for a level. */
static double per_cycle(const char *series, double every_cycles) {
    return strcmp(series, "resident_blocks") == 0 ? 1 : every_cycles;
}

/* part(series, from, to): the mean value of a column per cycle, between two shares of the samples. The last sample of a
 * launch is shorter than the others and is left out if there are others. */
static double part(const json_t *result, const char *series, double from, double to) {
    const json_t *launches = json_object_get(result, "samples");
    double all = (double)count_samples(result, series), at = 0, sum = 0, n = 0;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i), *samples = json_object_get(launch, series);
        double every = json_number_value(json_object_get(launch, "every_cycles"));
        size_t n_samples = json_array_size(samples);
        for (size_t k = 0; k < n_samples; k++, at++) {
            const json_t *sample = json_array_get(samples, k);
            if (at < from * all || at >= to * all || (k + 1 == n_samples && n_samples > 1))
                continue;
            for (size_t c = 0; c < json_array_size(sample); c++, n++)
                sum += number_at(sample, c) / per_cycle(series, every);
        }
    }
    return n > 0 ? sum / n : NAN;
}

/* within(series, from, to): the share of values in a range. */
static double within(const json_t *result, const char *series, double from, double to) {
    const json_t *launches = json_object_get(result, "samples");
    double some = 0, all = 0;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i), *samples = json_object_get(launch, series);
        double every = json_number_value(json_object_get(launch, "every_cycles"));
        for (size_t k = 0; k < json_array_size(samples); k++) {
            const json_t *sample = json_array_get(samples, k);
            for (size_t c = 0; c < json_array_size(sample); c++, all++) {
                double value = number_at(sample, c) / per_cycle(series, every);
                some += value >= from && value <= to;
            }
        }
    }
    return all > 0 ? some / all : NAN;
}

/* spread(series): how far the largest value of a sample is from the smallest, the mean over all samples. */
static double spread(const json_t *result, const char *series) {
    const json_t *launches = json_object_get(result, "samples");
    double sum = 0, n = 0;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i), *samples = json_object_get(launch, series);
        double every = json_number_value(json_object_get(launch, "every_cycles"));
        for (size_t k = 0; k < json_array_size(samples); k++, n++) {
            const json_t *sample = json_array_get(samples, k);
            double least = number_at(sample, 0), most = least;
            for (size_t c = 1; c < json_array_size(sample); c++) {
                least = fmin(least, number_at(sample, c));
                most = fmax(most, number_at(sample, c));
            }
            sum += (most - least) / per_cycle(series, every);
        }
    }
    return n > 0 ? sum / n : NAN;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

struct sums {
    double n, x, y, xx, yy, xy, n_diverged;
};

static struct sums sum_threads(const json_t *result, const char *x_name, const char *y_name) {
    const json_t *kernels = json_object_get(result, "threads");
    struct sums sums = {0};
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *xs = json_object_get(json_array_get(kernels, i), x_name);
        const json_t *ys = json_object_get(json_array_get(kernels, i), y_name);
        for (size_t k = 0; k < json_array_size(xs); k++) {
            double x = number_at(xs, k), y = number_at(ys, k);
            sums.n++;
            sums.x += x;
            sums.y += y;
            sums.xx += x * x;
            sums.yy += y * y;
            sums.xy += x * y;
            sums.n_diverged += y > 0;
        }
    }
    return sums;
}

/* The correlation of two counts of the threads; 0 if one of them does not vary. */
static double correlate(const struct sums *sums) {
    double xx = sums->xx - sums->x * sums->x / sums->n, yy = sums->yy - sums->y * sums->y / sums->n;
    double xy = sums->xy - sums->x * sums->y / sums->n;
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

double experiment_run_function(const json_t *result, const char *name, const char *series, const double *number) {
    if (strcmp(name, "lanes") == 0)
        return lanes(result, number[0], number[1]);
    if (strcmp(name, "diverged") == 0)
        return diverged(result, number[0]);
    if (strcmp(name, "part") == 0)
        return part(result, series, number[0], number[1]);
    if (strcmp(name, "within") == 0)
        return within(result, series, number[0], number[1]);
    if (strcmp(name, "spread") == 0)
        return spread(result, series);
    struct sums sums = sum_threads(result, series ? series : "path", "split");
    if (sums.n == 0)
        return NAN;
    if (strcmp(name, "threads_diverged") == 0)
        return sums.n_diverged / sums.n;
    if (strcmp(name, "threads_alike") == 0)
        return correlate(&sums);
    double mean = sums.x / sums.n;
    return mean > 0 ? sqrt(fmax(sums.xx / sums.n - mean * mean, 0)) / mean : NAN;
}
