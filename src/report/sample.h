/* Samples of a program's launches: estimates the untimed sections from the timed ones. */
#pragma once

#include "report/report.h"

/* Estimates the counters of the launches of `run` from the sections that were timed, and sums them. Sets run->estimate;
 * n_runs: how often the program ran for it. Returns false if no section of some kernel was timed. */
bool report_sample_estimate(struct report_run *run, unsigned n_runs, struct base_arena *arena);
/* Returns by which factor more sections must be drawn, so that the rest of the interval of the cycles becomes at most
 * `error` of them on either side; at most 1: the sample is large enough, or contains everything. */
double report_sample_growth(const struct report_run *run, double error);
/* Returns the half width of the interval of the relative difference in cycles of two estimated runs: of log(a / b), for
 * small differences. Where both timed the same sections, only the sections' differences count. */
double report_sample_difference(const struct report_run *a, const struct report_run *b, struct base_arena *arena);
