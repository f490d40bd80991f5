/* Samples of a program's launches: which of them are timed, and what they tell about the others. */
#pragma once

#include "report/report.h"

enum { REPORT_N_FEATURES = 4 };

struct report_sample {
    unsigned n_launches, n_strata, n_kernels;
    struct report_drawn {
        uint32_t stratum, kernel;
        bool is_first;  /* of its kernel */
        bool is_chosen; /* it is timed */
        double work;    /* the cycles that its instructions and accesses let one expect */
        double feature[REPORT_N_FEATURES];
    } * launch;
    unsigned *n_members, *n_chosen; /* of each stratum */
    uint64_t seed;
};

/* Draws a sample from the launches of `counted`, a run of which no launch was timed. */
struct report_sample report_sample_new(const struct report_run *counted, const struct report_target *target,
                                       struct base_arena *arena);
/* Adds launches to the sample, so that the interval of the cycles of all launches becomes at most `error` of them on
 * either side, as far as the launches timed so far can tell. Returns the number of launches added. */
unsigned report_sample_more(struct report_sample *sample, const struct report_run *run, double error,
                            struct base_arena *arena);
/* Estimates the counters of the launches of `run` that were not timed, and sums them. Sets run->estimate; n_runs: how
 * often the program ran for it. Returns false if the run did not make the launches of `counted`, or timed none of some
 * kernel. */
bool report_sample_estimate(const struct report_sample *sample, const struct report_run *counted, unsigned n_runs,
                            struct report_run *run, struct base_arena *arena);
/* Returns the half width of the interval of the relative difference in cycles of two runs that timed the same sample:
 * of log(a / b), for small differences. */
double report_sample_difference(const struct report_sample *sample, const struct report_run *a,
                                const struct report_run *b, struct base_arena *arena);
