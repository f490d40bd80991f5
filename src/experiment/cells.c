/* The grid of an experiment: cells by number and by name. */
#include <math.h>
#include <string.h>

#include "experiment/experiment.h"

const char *const experiment_mean_names[3] = {"geometric", "harmonic", "arithmetic"};
const char *const experiment_figure_names[5] = {"bars", "lines", "stacked", "series", "threads"};

const char *experiment_point_name(const struct experiment_axis *axis, unsigned at) {
    return at < axis->n_points ? axis->point[at].name : axis->mean[at - axis->n_points].name;
}

const char *experiment_cell_name(const struct experiment *experiment, const struct experiment_cell *cell,
                                 struct base_arena *arena) {
    const char *name = "";
    for (unsigned a = 0; a < experiment->n_axes; a++)
        name = base_arena_printf(arena, "%s%s%s", name, a ? ", " : "",
                                 experiment_point_name(&experiment->axis[a], cell->at[a]));
    return name;
}

int experiment_find_axis(const struct experiment *experiment, const char *name) {
    for (unsigned a = 0; a < experiment->n_axes; a++)
        if (strcmp(experiment->axis[a].name, name) == 0)
            return (int)a;
    return -1;
}

int experiment_find_point(const struct experiment_axis *axis, const char *name) {
    for (unsigned i = 0; i < axis->n_points + axis->n_means; i++)
        if (strcmp(experiment_point_name(axis, i), name) == 0)
            return (int)i;
    return -1;
}

int experiment_find_measure(const struct experiment *experiment, const char *name) {
    for (unsigned i = 0; i < experiment->n_measures; i++)
        if (strcmp(experiment->measure[i].name, name) == 0)
            return (int)i;
    return -1;
}

unsigned experiment_count_cells(const struct experiment *experiment) {
    unsigned n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        n *= experiment->axis[a].n_points;
    return n;
}

struct experiment_cell experiment_cell_of_number(const struct experiment *experiment, unsigned number) {
    struct experiment_cell cell = {0};
    for (unsigned a = experiment->n_axes; a-- > 0;) {
        cell.at[a] = number % experiment->axis[a].n_points;
        number /= experiment->axis[a].n_points;
    }
    return cell;
}

unsigned experiment_number_of_cell(const struct experiment *experiment, const struct experiment_cell *cell) {
    unsigned number = 0;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        number = number * experiment->axis[a].n_points + cell->at[a];
    return number;
}

bool experiment_is_mean(const struct experiment *experiment, const struct experiment_cell *cell) {
    for (unsigned a = 0; a < experiment->n_axes; a++)
        if (cell->at[a] >= experiment->axis[a].n_points)
            return true;
    return false;
}

const char *experiment_size_at(const struct experiment *experiment, const char *size) {
    static const char *const order[] = {"small", "medium", "paper"};
    for (unsigned i = 0; i < 3 && experiment->largest_size; i++) {
        if (strcmp(order[i], size) == 0)
            return size;
        if (strcmp(order[i], experiment->largest_size) == 0)
            return experiment->largest_size;
    }
    return experiment->common.size ? experiment->common.size : size;
}

/* A run has the last size given in its settings; without one, that of the command. */
bool experiment_has_sizes(const struct experiment *experiment) {
    if (experiment->common.size || experiment->common.example)
        return false;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        for (unsigned i = 0; i < experiment->axis[a].n_points; i++) {
            const struct experiment_settings *settings = &experiment->axis[a].point[i].settings;
            if (settings->size || settings->example)
                return false;
        }
    return true;
}

double experiment_paper_number(const struct experiment *experiment, unsigned measure,
                               const struct experiment_cell *cell) {
    for (unsigned i = 0; i < experiment->n_numbers; i++) {
        const struct experiment_number *number = &experiment->number[i];
        bool is_same = number->measure == measure;
        for (unsigned a = 0; a < experiment->n_axes; a++)
            is_same &= number->cell.at[a] == cell->at[a];
        if (is_same)
            return number->value;
    }
    return NAN;
}
