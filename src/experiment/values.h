/* The values of measures at cells, from the results of their runs. */
#pragma once

#include "experiment/expression.h"
#include "experiment/plan.h"

/* A mean over variations, and the smallest and largest; all equal with one variation. NaN: not known. */
struct experiment_value {
    double mean, low, high;
};
struct experiment_value experiment_value_of(const struct experiment_grid *grid, unsigned measure,
                                            const struct experiment_cell *cell);
/* In one variation. */
double experiment_value_in(const struct experiment_grid *grid, unsigned measure, const struct experiment_cell *cell,
                           unsigned variation);

/* Evaluates a check on the means, or in one variation: 1 it holds, 0 it does not, NaN not known. */
double experiment_check_on_means(const struct experiment_grid *grid, const struct experiment_expression *check);
double experiment_check_in(const struct experiment_grid *grid, const struct experiment_expression *check,
                           unsigned variation);

/* Marks the cells that a check needs: the points of means, and the runs compared with. */
void experiment_mark_needed(const struct experiment *experiment, const struct experiment_expression *check,
                            bool *is_needed);

/* A claim holds if its check does in every variation, mostly if it does in more than half of them. */
enum experiment_state {
    EXPERIMENT_HOLDS,
    EXPERIMENT_HOLDS_MOSTLY,
    EXPERIMENT_EXPLAINED,
    EXPERIMENT_OPEN,
    EXPERIMENT_UNKNOWN,
    EXPERIMENT_N_STATES
};
extern const char
    *const experiment_state_names[EXPERIMENT_N_STATES]; /* "holds", "holds mostly", "explained", "open", "not known" */
struct experiment_verdict {
    enum experiment_state state;
    unsigned n;         /* variations that it was judged in */
    unsigned n_against; /* variations that disagree: in which a claim that holds does not, or the other way round */
};
/* claims.c: of the experiment's own variations alone, and of its noise too, where that is known. */
struct experiment_verdict experiment_judge_alone(const struct experiment_grid *grid,
                                                 const struct experiment_claim *claim);
struct experiment_verdict experiment_judge(const struct experiment_grid *grid, const struct experiment_claim *claim);
/* The first noise of the grid that all runs of a claim are known of; NULL: none. */
const struct experiment_grid *experiment_find_noise(const struct experiment_grid *grid,
                                                    const struct experiment_claim *claim);
/* Whether noise is of the same size as the grid. */
bool experiment_is_same_size(const struct experiment_grid *grid, const struct experiment_grid *noise);

/* run_functions.c: functions of a run beyond its statistics; see expression.c. */
double experiment_run_function(const json_t *result, const char *name, const char *series, const double *number);
