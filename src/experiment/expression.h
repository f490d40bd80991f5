/* Arithmetic in experiment files. A measure computes with the statistics of a run; `base.` is the run it is compared
 * with:  base.cycles / cycles.  A check compares values of measures at cells:  gain[mean, lwm] > gain[mean, tbc].
 *
 * A value is a list of numbers, mostly of length 1. `*` in a cell stands for all points of an axis, a|b for two of
 * them. Operators work element by element; a list of one fits any other. A comparison holds if it holds for every
 * number, and a < b < c compares twice. An unknown value makes the result unknown: NaN. */
#pragma once

#include "experiment/experiment.h"

struct experiment_list {
    double *item;
    unsigned count;
};

enum experiment_expression_use { EXPERIMENT_USE_MEASURE, EXPERIMENT_USE_CHECK };

/* Parses the text; `offset` is its place in the source, for messages. Returns NULL with the error in diag. */
struct experiment_expression *experiment_parse_expression(const char *text, enum experiment_expression_use use,
                                                          const struct experiment *experiment,
                                                          const struct base_source *source, size_t offset,
                                                          struct base_arena *arena, struct base_diag *diag);

/* Parses measure[point, point]: one cell. Returns false with the error in diag. */
bool experiment_parse_cell(const char *text, const struct experiment *experiment, const struct base_source *source,
                           size_t offset, unsigned *measure, struct experiment_cell *cell, struct base_arena *arena,
                           struct base_diag *diag);

/* The meaning of names while an expression is evaluated. */
struct experiment_meanings {
    void *context;
    double (*statistic)(void *context, const char *name, bool is_base);
    /* A function of a run, such as lanes(1, 8); series: the name before the numbers, or NULL. */
    double (*function)(void *context, const char *name, const char *series, const double *number, unsigned n_numbers);
    struct experiment_list (*cells)(void *context, unsigned measure, const struct experiment_cells *cells);
    struct base_arena *arena;
};
struct experiment_list experiment_compute(const struct experiment_expression *expression,
                                          const struct experiment_meanings *meanings);

/* Calls `visit` for each cell that a check uses. */
void experiment_visit_cells(const struct experiment_expression *expression, void *context,
                            void (*visit)(void *context, unsigned measure, const struct experiment_cells *cells));
/* Returns true if a measure uses the run that it is compared with. */
bool experiment_uses_base(const struct experiment_expression *expression);
