/* The counters of a real GPU beside ours (metrics.def). */
#pragma once

#include <stdio.h>

#include "cli/validate/recording.h"
#include "report/report.h"

/* A program, its recording, and our counters of the launches in it. */
struct cli_measured {
    const struct cli_recorded *real;
    struct stats_counters counters;
    const struct report_peaks *peaks;
    struct stats_line lines; /* of the kernels' lines, all together; not the time before a launch has started */
    double registers;        /* of a thread, the mean of the launches; NaN: not known */
};

/* Rows of metrics.def: their words, and whether they are shares. */
const char *cli_metric_word(unsigned metric);
bool cli_metric_is_share(unsigned metric);

/* Of the recording, and ours. NaN: not known. */
double cli_metric_real(unsigned metric, const struct cli_measured *measured);
double cli_metric_simulated(unsigned metric, const struct cli_measured *measured);

/* Returns the simulated value relative to the real one: of counts (simulated - real) / the larger of both, so that a
 * count one side lacks is -1 or 1; of shares the difference. NaN if one of them is unknown, or both are 0. */
double cli_metric_difference(unsigned metric, const struct cli_measured *measured);

/* Prints how far each metric is off, and the largest differences of all. */
void cli_print_metrics(FILE *file, const struct cli_measured *measured, unsigned n, struct base_arena *arena);

/* Writes a line per program and metric, after a heading. */
void cli_write_metrics(FILE *file, const struct cli_measured *measured, unsigned n);
