/* An experiment's values as tables of text: rows are the points of its first axis, columns those of its last one or,
 * with only one axis, its measures. There is a table for each combination of points of the other axes. */
#pragma once

#include "experiment/values.h"

struct experiment_matrix {
    const char *title;  /* the measure, and the points of other axes */
    const char *corner; /* the axis of the rows */
    unsigned n_rows, n_columns;
    const char **row, **column;
    const char **cell; /* by rows */
};
struct experiment_matrix *experiment_make_matrices(const struct experiment_grid *grid, unsigned *count,
                                                   struct base_arena *arena);

/* A value as text: with its spread if there are variations; "-" if it is not known. */
const char *experiment_value_text(const struct experiment_grid *grid, unsigned measure,
                                  const struct experiment_cell *cell, struct base_arena *arena);
/* The number without its spread. */
const char *experiment_number_text(const struct experiment_measure_row *measure, double value,
                                   struct base_arena *arena);
