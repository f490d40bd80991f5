/* Results as JSON and CSV, a line for each value. */
#include <math.h>

#include "cli/experiments/show.h"

static json_t *number_json(double value) { return isnan(value) ? json_null() : json_real(value); }

/* The paper's number for a value; NaN: it prints none. */
static double paper_number(const struct cli_experiment *experiment, unsigned measure, const struct cli_cell *cell) {
    for (unsigned i = 0; i < experiment->n_numbers; i++) {
        const struct cli_number *number = &experiment->number[i];
        bool is_same = number->measure == measure;
        for (unsigned a = 0; a < experiment->n_axes; a++)
            is_same &= number->cell.at[a] == cell->at[a];
        if (is_same)
            return number->value;
    }
    return NAN;
}

/* The number of all cells, including those of means; the last axis varies fastest. */
static unsigned count_all(const struct cli_experiment *experiment) {
    unsigned n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        n *= experiment->axis[a].n_points + experiment->axis[a].n_means;
    return n;
}

static struct cli_cell cell_of_all(const struct cli_experiment *experiment, unsigned number) {
    struct cli_cell cell = {0};
    for (unsigned a = experiment->n_axes; a-- > 0;) {
        unsigned n = experiment->axis[a].n_points + experiment->axis[a].n_means;
        cell.at[a] = number % n;
        number /= n;
    }
    return cell;
}

static json_t *values_json(const struct cli_grid *grid) {
    const struct cli_experiment *experiment = grid->experiment;
    json_t *array = json_array();
    for (unsigned m = 0; m < experiment->n_measures; m++)
        for (unsigned i = 0; i < count_all(experiment); i++) {
            struct cli_cell cell = cell_of_all(experiment, i);
            struct cli_value value = cli_value_of(grid, m, &cell);
            json_t *object = json_object(), *at = json_object();
            for (unsigned a = 0; a < experiment->n_axes; a++)
                json_object_set_new(at, experiment->axis[a].name,
                                    json_string(cli_point_name(&experiment->axis[a], cell.at[a])));
            json_object_set_new(object, "measure", json_string(experiment->measure[m].name));
            json_object_set_new(object, "at", at);
            json_object_set_new(object, "ours", number_json(value.mean));
            if (experiment->n_variations > 1) {
                json_object_set_new(object, "low", number_json(value.low));
                json_object_set_new(object, "high", number_json(value.high));
            }
            json_object_set_new(object, "paper", number_json(paper_number(experiment, m, &cell)));
            json_array_append_new(array, object);
        }
    return array;
}

static json_t *claims_json(const struct cli_grid *grid) {
    json_t *array = json_array();
    for (unsigned i = 0; i < grid->experiment->n_claims; i++) {
        const struct cli_claim *claim = &grid->experiment->claim[i];
        struct cli_verdict verdict = cli_judge(grid, claim);
        json_t *object = json_pack("{s:s, s:s, s:s, s:i}", "says", claim->says, "check", claim->text, "state",
                                   cli_state_names[verdict.state], "variations_against", (int)verdict.n_against);
        if (claim->reason)
            json_object_set_new(object, "reason", json_string(claim->reason));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *cli_results_json(const struct cli_grid *grid, struct base_arena *arena) {
    const struct cli_experiment *experiment = grid->experiment;
    json_t *object = json_object(), *ours = json_array();
    (void)arena;
    for (unsigned i = 0; i < experiment->n_ours; i++)
        json_array_append_new(ours, json_string(experiment->ours[i]));
    json_object_set_new(object, "name", json_string(experiment->name));
    if (experiment->source)
        json_object_set_new(object, "source", json_string(experiment->source));
    json_object_set_new(object, "title", json_string(experiment->title));
    if (cli_has_sizes(experiment))
        json_object_set_new(object, "size", json_string(grid->plan->size));
    json_object_set_new(object, "ours", ours);
    json_object_set_new(object, "values", values_json(grid));
    json_object_set_new(object, "claims", claims_json(grid));
    return object;
}

void cli_write_csv_heading(FILE *file) { fputs("experiment,measure,at,ours,low,high,paper\n", file); }

static void write_number(FILE *file, double value, char after) {
    if (!isnan(value))
        fprintf(file, "%.9g", value);
    fputc(after, file);
}

void cli_write_csv_lines(FILE *file, const struct cli_grid *grid, struct base_arena *arena) {
    const struct cli_experiment *experiment = grid->experiment;
    for (unsigned m = 0; m < experiment->n_measures; m++)
        for (unsigned i = 0; i < count_all(experiment); i++) {
            struct cli_cell cell = cell_of_all(experiment, i);
            struct cli_value value = cli_value_of(grid, m, &cell);
            fprintf(file, "%s,%s,\"%s\",", experiment->name, experiment->measure[m].name,
                    cli_cell_name(experiment, &cell, arena));
            write_number(file, value.mean, ',');
            write_number(file, value.low, ',');
            write_number(file, value.high, ',');
            write_number(file, paper_number(experiment, m, &cell), '\n');
        }
}
