/* The runs that an experiment is made of: bundled workloads on machines, as `heddle compare` runs them. */
#pragma once

#include "cli/experiments/experiments.h"
#include "stats/counters.h"

struct cli_trial {
    const char *workload, *arguments; /* its own options with spaces between, or "" */
    const char *machine, *changes;    /* KEY=VALUE with spaces between, or "" */
    struct stats_counters counters;   /* of all its launches; filled in */
};

/* Runs all of them, several at a time, each checked against its CPU reference. The exit status, after one line if it is
 * not CLI_DONE. */
int cli_run_trials(const struct cli_results *results, struct cli_trial *trial, unsigned count);
