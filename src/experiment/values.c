/* Values: a measure's expression over the statistics of a cell's run and of the run it is compared with; means over
 * points of an axis; means and spreads over variations. */
#include "experiment/values.h"

#include <math.h>
#include <string.h>

enum { ON_MEANS = -1 };

struct context {
    const struct experiment_grid *grid;
    const json_t *result, *base;
    int variation; /* or ON_MEANS */
    struct base_arena *arena;
};

static double statistic(void *context, const char *name, bool is_base) {
    const struct context *of = context;
    const json_t *value = json_object_get(json_object_get(is_base ? of->base : of->result, "total"), name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double function(void *context, const char *name, const char *series, const double *number, unsigned n_numbers) {
    (void)n_numbers;
    return experiment_run_function(((struct context *)context)->result, name, series, number);
}

static const json_t *result_at(const struct experiment_grid *grid, const struct experiment_cell *cell,
                               unsigned variation) {
    const struct experiment_trial *trial = experiment_grid_trial(grid, cell, variation);
    return trial ? trial->result : NULL;
}

static double value_of_run(const struct experiment_grid *grid, const struct experiment_measure_row *measure,
                           const struct experiment_cell *cell, unsigned variation) {
    struct base_arena arena = {0};
    struct experiment_cell base = *cell;
    for (unsigned a = 0; a < grid->experiment->n_axes && measure->has_base; a++)
        base.at[a] = measure->base[a] >= 0 ? (unsigned)measure->base[a] : cell->at[a];
    struct context context = {
        .grid = grid, .result = result_at(grid, cell, variation), .base = result_at(grid, &base, variation)};
    struct experiment_meanings meanings = {
        .context = &context, .statistic = statistic, .function = function, .arena = &arena};
    double value = context.result ? experiment_compute(measure->expression, &meanings).item[0] : NAN;
    base_arena_free(&arena);
    return value;
}

static double mean_of(const struct experiment_grid *grid, unsigned measure, const struct experiment_cell *cell,
                      unsigned a, unsigned variation) {
    const struct experiment_axis *axis = &grid->experiment->axis[a];
    const struct experiment_mean *mean = &axis->mean[cell->at[a] - axis->n_points];
    double sum = 0;
    for (unsigned i = 0; i < mean->n_members; i++) {
        struct experiment_cell one = *cell;
        one.at[a] = mean->member[i];
        double value = experiment_value_in(grid, measure, &one, variation);
        sum += mean->kind == EXPERIMENT_MEAN_GEOMETRIC  ? log(value)
               : mean->kind == EXPERIMENT_MEAN_HARMONIC ? 1 / value
                                                        : value;
    }
    sum /= mean->n_members;
    return mean->kind == EXPERIMENT_MEAN_GEOMETRIC ? exp(sum) : mean->kind == EXPERIMENT_MEAN_HARMONIC ? 1 / sum : sum;
}

double experiment_value_in(const struct experiment_grid *grid, unsigned measure, const struct experiment_cell *cell,
                           unsigned variation) {
    for (unsigned a = 0; a < grid->experiment->n_axes; a++)
        if (cell->at[a] >= grid->experiment->axis[a].n_points)
            return mean_of(grid, measure, cell, a, variation);
    return value_of_run(grid, &grid->experiment->measure[measure], cell, variation);
}

struct experiment_value experiment_value_of(const struct experiment_grid *grid, unsigned measure,
                                            const struct experiment_cell *cell) {
    struct experiment_value value = {.mean = 0, .low = INFINITY, .high = -INFINITY};
    for (unsigned v = 0; v < grid->experiment->n_variations; v++) {
        double one = experiment_value_in(grid, measure, cell, v);
        if (isnan(one))
            return (struct experiment_value){NAN, NAN, NAN};
        value.mean += one / grid->experiment->n_variations;
        value.low = fmin(value.low, one);
        value.high = fmax(value.high, one);
    }
    return value;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* All cells of the product, the last axis fastest. */
static bool next_cell(const struct experiment *experiment, const struct experiment_cells *cells, unsigned *turn,
                      struct experiment_cell *cell) {
    for (unsigned a = 0; a < experiment->n_axes; a++)
        cell->at[a] = cells->at[a][turn[a]];
    for (unsigned a = experiment->n_axes; a-- > 0;) {
        if (++turn[a] < cells->n[a])
            return true;
        turn[a] = 0;
    }
    return false;
}

static struct experiment_list values_of_cells(void *context, unsigned measure, const struct experiment_cells *cells) {
    const struct context *of = context;
    const struct experiment *experiment = of->grid->experiment;
    unsigned turn[EXPERIMENT_MOST_AXES] = {0}, n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        n *= cells->n[a];
    struct experiment_list list = {.item = BASE_ARENA_ARRAY(of->arena, double, n)};
    struct experiment_cell cell = {0};
    for (bool goes_on = true; goes_on;) {
        goes_on = next_cell(experiment, cells, turn, &cell);
        list.item[list.count++] = of->variation == ON_MEANS
                                      ? experiment_value_of(of->grid, measure, &cell).mean
                                      : experiment_value_in(of->grid, measure, &cell, (unsigned)of->variation);
    }
    return list;
}

static double check(const struct experiment_grid *grid, const struct experiment_expression *expression, int variation) {
    struct base_arena arena = {0};
    struct context context = {.grid = grid, .variation = variation, .arena = &arena};
    struct experiment_meanings meanings = {.context = &context, .cells = values_of_cells, .arena = &arena};
    double result = experiment_compute(expression, &meanings).item[0];
    base_arena_free(&arena);
    return result;
}

double experiment_check_on_means(const struct experiment_grid *grid, const struct experiment_expression *expression) {
    return check(grid, expression, ON_MEANS);
}

double experiment_check_in(const struct experiment_grid *grid, const struct experiment_expression *expression,
                           unsigned variation) {
    return check(grid, expression, (int)variation);
}

/* ---- The cells that a check needs -------------------------------------------------------------------------------- */

struct marker {
    const struct experiment *experiment;
    bool *is_needed;
};

static void mark_run(const struct marker *marker, const struct experiment_measure_row *measure,
                     struct experiment_cell cell) {
    marker->is_needed[experiment_number_of_cell(marker->experiment, &cell)] = true;
    if (!experiment_uses_base(measure->expression))
        return;
    for (unsigned a = 0; a < marker->experiment->n_axes; a++)
        cell.at[a] = measure->base[a] >= 0 ? (unsigned)measure->base[a] : cell.at[a];
    marker->is_needed[experiment_number_of_cell(marker->experiment, &cell)] = true;
}

static void mark_cell(const struct marker *marker, unsigned measure, const struct experiment_cell *cell) {
    for (unsigned a = 0; a < marker->experiment->n_axes; a++) {
        const struct experiment_axis *axis = &marker->experiment->axis[a];
        if (cell->at[a] < axis->n_points)
            continue;
        const struct experiment_mean *mean = &axis->mean[cell->at[a] - axis->n_points];
        for (unsigned i = 0; i < mean->n_members; i++) {
            struct experiment_cell one = *cell;
            one.at[a] = mean->member[i];
            mark_cell(marker, measure, &one);
        }
        return;
    }
    mark_run(marker, &marker->experiment->measure[measure], *cell);
}

static void visit(void *context, unsigned measure, const struct experiment_cells *cells) {
    const struct marker *marker = context;
    unsigned turn[EXPERIMENT_MOST_AXES] = {0};
    struct experiment_cell cell = {0};
    for (bool goes_on = true; goes_on;) {
        goes_on = next_cell(marker->experiment, cells, turn, &cell);
        mark_cell(marker, measure, &cell);
    }
}

void experiment_mark_needed(const struct experiment *experiment, const struct experiment_expression *expression,
                            bool *is_needed) {
    struct marker marker = {experiment, is_needed};
    experiment_visit_cells(expression, &marker, visit);
}
