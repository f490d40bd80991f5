/* Estimates the cycles of all launches of a run from those that were timed.
 *
 * A launch that ran functionally has its thread instructions, which do not depend on the machine. For each kernel, the
 * cycles of the timed launches are fitted to their thread instructions: by a straight line if there are at least
 * FEWEST_FOR_LINE launches, otherwise by one ratio. The line or ratio predicts the cycles of the others. The residuals
 * of the timed launches estimate the error of each prediction, and with it the error of the sum (see any book on
 * sampling: ratio and regression estimators). */
#include <math.h>
#include <string.h>

#include "report/report.h"

enum { FEWEST_FOR_LINE = 4 };

/* Launches of one kernel: instructions x, cycles y of the timed ones. */
struct sample {
    double n, sum_x, sum_y, sum_xx, sum_xy;
    double others, others_x; /* launches that were not timed */
};

/* cycles = first + each * instructions */
struct line {
    double first, each;
    double used; /* parameters estimated from the sample */
};

static bool is_kernel(const struct report_kernel *launch, const char *name) { return strcmp(launch->name, name) == 0; }

static struct sample take_sample(const struct report_run *run, const char *name) {
    struct sample sample = {0};
    for (unsigned i = 0; i < run->n_launches; i++) {
        const struct report_kernel *launch = &run->launch[i];
        double x = (double)launch->thread_instructions, y = (double)launch->counters.cycles;
        if (!is_kernel(launch, name))
            continue;
        if (launch->n_untimed) {
            sample.others++;
            sample.others_x += x;
            continue;
        }
        sample.n++;
        sample.sum_x += x;
        sample.sum_y += y;
        sample.sum_xx += x * x;
        sample.sum_xy += x * y;
    }
    return sample;
}

static struct line fit(const struct sample *sample) {
    double spread = sample->n * sample->sum_xx - sample->sum_x * sample->sum_x;
    struct line line = {.used = 1};
    if (sample->n >= FEWEST_FOR_LINE && spread > 1e-9 * sample->n * sample->sum_xx) {
        line.used = 2;
        line.each = (sample->n * sample->sum_xy - sample->sum_x * sample->sum_y) / spread;
        line.first = (sample->sum_y - line.each * sample->sum_x) / sample->n;
    } else if (sample->sum_x > 0) {
        line.each = sample->sum_y / sample->sum_x;
    } else {
        line.first = sample->sum_y / sample->n;
    }
    return line;
}

/* Returns the variance of the sum of the cycles of the launches that were not timed; NaN if the sample is too small. */
static double variance(const struct report_run *run, const char *name, const struct sample *sample, struct line line) {
    double squares = 0;
    if (sample->n <= line.used)
        return NAN;
    for (unsigned i = 0; i < run->n_launches; i++) {
        const struct report_kernel *launch = &run->launch[i];
        if (!is_kernel(launch, name) || launch->n_untimed)
            continue;
        double rest = (double)launch->counters.cycles - line.first - line.each * (double)launch->thread_instructions;
        squares += rest * rest;
    }
    /* Each of the others deviates as much as a timed one, and all of them by the error of the mean. */
    return squares / (sample->n - line.used) * sample->others * (1 + sample->others / sample->n);
}

bool report_estimate(const struct report_run *run, struct report_estimate *estimate) {
    double sum_of_variances = 0;
    *estimate = (struct report_estimate){.n_launches = run->n_launches};
    if (run->total.n_untimed == 0 || run->total.n_untimed == run->n_launches)
        return false;
    estimate->n_timed = run->n_launches - run->total.n_untimed;
    estimate->cycles = (double)run->total.counters.cycles;
    for (unsigned i = 0; i < run->n_launches; i++) {
        const char *name = run->launch[i].name;
        unsigned earlier = 0;
        while (!is_kernel(&run->launch[earlier], name))
            earlier++;
        if (earlier < i)
            continue;
        struct sample sample = take_sample(run, name);
        if (sample.n == 0)
            return false;
        if (sample.others == 0)
            continue;
        struct line line = fit(&sample);
        double cycles = line.first * sample.others + line.each * sample.others_x;
        estimate->cycles += cycles > 0 ? cycles : 0;
        sum_of_variances += variance(run, name, &sample, line);
    }
    estimate->error = 2 * sqrt(sum_of_variances);
    return true;
}
