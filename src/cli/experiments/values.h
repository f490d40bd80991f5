/* The values of measures at cells, from the results of their runs. */
#pragma once

#include "cli/experiments/expression.h"
#include "cli/experiments/plan.h"

/* A mean over variations, and the smallest and largest; all equal with one variation. NaN: not known. */
struct cli_value {
    double mean, low, high;
};
struct cli_value cli_value_of(const struct cli_grid *grid, unsigned measure, const struct cli_cell *cell);
/* In one variation. */
double cli_value_in(const struct cli_grid *grid, unsigned measure, const struct cli_cell *cell, unsigned variation);

/* Evaluates a check on the means, or in one variation: 1 it holds, 0 it does not, NaN not known. */
double cli_check_on_means(const struct cli_grid *grid, const struct cli_expression *check);
double cli_check_in(const struct cli_grid *grid, const struct cli_expression *check, unsigned variation);

/* Marks the cells that a check needs: the points of means, and the runs compared with. */
void cli_mark_needed(const struct cli_experiment *experiment, const struct cli_expression *check, bool *is_needed);

/* A claim holds if its check does in every variation, mostly if it does in more than half of them. */
enum cli_state { CLI_HOLDS, CLI_HOLDS_MOSTLY, CLI_EXPLAINED, CLI_OPEN, CLI_UNKNOWN, CLI_N_STATES };
extern const char *const cli_state_names[CLI_N_STATES]; /* "holds", "holds mostly", "explained", "open", "not known" */
struct cli_verdict {
    enum cli_state state;
    unsigned n;         /* variations that it was judged in */
    unsigned n_against; /* variations that disagree: in which a claim that holds does not, or the other way round */
};
/* claims.c: of the experiment's own variations alone, and of its noise too, where that is known. */
struct cli_verdict cli_judge_alone(const struct cli_grid *grid, const struct cli_claim *claim);
struct cli_verdict cli_judge(const struct cli_grid *grid, const struct cli_claim *claim);

/* run_functions.c: functions of a run beyond its statistics; see expression.c. */
double cli_run_function(const json_t *result, const char *name, const char *series, const double *number);
