/* Tables of text from a grid of values. */
#include "experiment/matrix.h"

#include <math.h>

const char *experiment_number_text(const struct experiment_measure_row *measure, double value,
                                   struct base_arena *arena) {
    if (isnan(value))
        return "-";
    return base_arena_printf(arena, "%.*f", (int)measure->places, value);
}

static bool is_refused(const struct experiment_grid *grid, const struct experiment_cell *cell) {
    if (experiment_is_mean(grid->experiment, cell))
        return false;
    const struct experiment_trial *trial = experiment_grid_trial(grid, cell, 0);
    return trial && trial->refusal;
}

const char *experiment_value_text(const struct experiment_grid *grid, unsigned measure,
                                  const struct experiment_cell *cell, struct base_arena *arena) {
    const struct experiment_measure_row *row = &grid->experiment->measure[measure];
    struct experiment_value value = experiment_value_of(grid, measure, cell);
    if (isnan(value.mean))
        return is_refused(grid, cell) ? "refused" : "-";
    const char *text = experiment_number_text(row, value.mean, arena);
    if (grid->experiment->n_variations == 1)
        return text;
    return base_arena_printf(arena, "%s (%s..%s)", text, experiment_number_text(row, value.low, arena),
                             experiment_number_text(row, value.high, arena));
}

static unsigned count_points(const struct experiment_axis *axis) { return axis->n_points + axis->n_means; }

static const char **names_of(const struct experiment_axis *axis, struct base_arena *arena) {
    const char **name = BASE_ARENA_ARRAY(arena, const char *, count_points(axis));
    for (unsigned i = 0; i < count_points(axis); i++)
        name[i] = experiment_point_name(axis, i);
    return name;
}

/* One axis: a column for each measure. */
static struct experiment_matrix matrix_of_measures(const struct experiment_grid *grid, struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    const struct experiment_axis *axis = &experiment->axis[0];
    struct experiment_matrix matrix = {.title = NULL,
                                       .corner = axis->name,
                                       .n_rows = count_points(axis),
                                       .n_columns = experiment->n_measures,
                                       .row = names_of(axis, arena)};
    matrix.column = BASE_ARENA_ARRAY(arena, const char *, matrix.n_columns);
    matrix.cell = BASE_ARENA_ARRAY(arena, const char *, matrix.n_rows *matrix.n_columns);
    for (unsigned m = 0; m < matrix.n_columns; m++)
        matrix.column[m] = experiment->measure[m].title;
    for (unsigned r = 0; r < matrix.n_rows; r++)
        for (unsigned m = 0; m < matrix.n_columns; m++)
            matrix.cell[r * matrix.n_columns + m] =
                experiment_value_text(grid, m, &(struct experiment_cell){.at = {r}}, arena);
    return matrix;
}

/* The points of the axes between the first and the last. */
static const char *title_of(const struct experiment *experiment, unsigned measure, const struct experiment_cell *cell,
                            struct base_arena *arena) {
    const char *title = experiment->measure[measure].title;
    for (unsigned a = 1; a + 1 < experiment->n_axes; a++)
        title = base_arena_printf(arena, "%s, %s %s", title, experiment->axis[a].name,
                                  experiment_point_name(&experiment->axis[a], cell->at[a]));
    return title;
}

static struct experiment_matrix matrix_of_cells(const struct experiment_grid *grid, unsigned measure,
                                                struct experiment_cell cell, struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    unsigned last = experiment->n_axes - 1;
    const struct experiment_axis *rows = &experiment->axis[0], *columns = &experiment->axis[last];
    struct experiment_matrix matrix = {.title = title_of(experiment, measure, &cell, arena),
                                       .corner = rows->name,
                                       .n_rows = count_points(rows),
                                       .n_columns = count_points(columns),
                                       .row = names_of(rows, arena),
                                       .column = names_of(columns, arena)};
    matrix.cell = BASE_ARENA_ARRAY(arena, const char *, matrix.n_rows *matrix.n_columns);
    for (unsigned r = 0; r < matrix.n_rows; r++)
        for (unsigned c = 0; c < matrix.n_columns; c++) {
            cell.at[0] = r;
            cell.at[last] = c;
            matrix.cell[r * matrix.n_columns + c] = experiment_value_text(grid, measure, &cell, arena);
        }
    return matrix;
}

struct experiment_matrix *experiment_make_matrices(const struct experiment_grid *grid, unsigned *count,
                                                   struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    unsigned n_between = 1, n = 0;
    for (unsigned a = 1; a + 1 < experiment->n_axes; a++)
        n_between *= count_points(&experiment->axis[a]);
    struct experiment_matrix *matrix =
        BASE_ARENA_ARRAY(arena, struct experiment_matrix, n_between * experiment->n_measures);
    if (experiment->n_axes == 1) {
        matrix[0] = matrix_of_measures(grid, arena);
        *count = 1;
        return matrix;
    }
    for (unsigned m = 0; m < experiment->n_measures; m++)
        for (unsigned i = 0; i < n_between; i++) {
            struct experiment_cell cell = {0};
            unsigned rest = i;
            for (unsigned a = experiment->n_axes - 1; a-- > 1;) {
                cell.at[a] = rest % count_points(&experiment->axis[a]);
                rest /= count_points(&experiment->axis[a]);
            }
            matrix[n++] = matrix_of_cells(grid, m, cell, arena);
        }
    *count = n;
    return matrix;
}
