/* Writes results as JSON and CSV, with a line for each value. */
#include <math.h>
#include <string.h>

#include "experiment/noise.h"
#include "experiment/show.h"

static json_t *number_json(double value) { return isnan(value) ? json_null() : json_real(value); }

/* The number of all cells, including those of means; the last axis varies fastest. */
static unsigned count_all(const struct experiment *experiment) {
    unsigned n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        n *= experiment->axis[a].n_points + experiment->axis[a].n_means;
    return n;
}

static struct experiment_cell cell_of_all(const struct experiment *experiment, unsigned number) {
    struct experiment_cell cell = {0};
    for (unsigned a = experiment->n_axes; a-- > 0;) {
        unsigned n = experiment->axis[a].n_points + experiment->axis[a].n_means;
        cell.at[a] = number % n;
        number /= n;
    }
    return cell;
}

/* The number of the run that a value comes from, of alternatives the fastest; -1: none, as for means. */
static int run_of(const struct experiment_grid *grid, const struct experiment_cell *cell) {
    for (unsigned a = 0; a < grid->experiment->n_axes; a++)
        if (cell->at[a] >= grid->experiment->axis[a].n_points)
            return -1;
    const struct experiment_trial *trial = experiment_grid_trial(grid, cell, 0);
    for (unsigned i = 0; trial && i < grid->plan->n_trials; i++)
        if (grid->plan->trial[i] == trial)
            return trial->result ? (int)i : -1;
    return -1;
}

static json_t *values_json(const struct experiment_grid *grid, bool has_runs) {
    const struct experiment *experiment = grid->experiment;
    json_t *array = json_array();
    for (unsigned m = 0; m < experiment->n_measures; m++)
        for (unsigned i = 0; i < count_all(experiment); i++) {
            struct experiment_cell cell = cell_of_all(experiment, i);
            struct experiment_value value = experiment_value_of(grid, m, &cell);
            json_t *object = json_object(), *at = json_object();
            for (unsigned a = 0; a < experiment->n_axes; a++)
                json_object_set_new(at, experiment->axis[a].name,
                                    json_string(experiment_point_name(&experiment->axis[a], cell.at[a])));
            json_object_set_new(object, "measure", json_string(experiment->measure[m].name));
            json_object_set_new(object, "at", at);
            json_object_set_new(object, "ours", number_json(value.mean));
            if (experiment->n_variations > 1) {
                json_object_set_new(object, "low", number_json(value.low));
                json_object_set_new(object, "high", number_json(value.high));
            }
            json_object_set_new(object, "paper", number_json(experiment_paper_number(experiment, m, &cell)));
            if (has_runs && run_of(grid, &cell) >= 0)
                json_object_set_new(object, "run", json_integer(run_of(grid, &cell)));
            json_array_append_new(array, object);
        }
    return array;
}

static json_t *shown_json(const struct experiment_claim *claim, struct base_arena *arena) {
    json_t *array = json_array();
    for (unsigned i = 0; i < claim->n_shown; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s}", "with", experiment_settings_text(&claim->shown[i].with, arena),
                                        "check", claim->shown[i].text));
    return array;
}

static json_t *claims_json(const struct experiment_grid *grid) {
    json_t *array = json_array();
    for (unsigned i = 0; i < grid->experiment->n_claims; i++) {
        const struct experiment_claim *claim = &grid->experiment->claim[i];
        struct experiment_verdict verdict = experiment_judge(grid, claim);
        json_t *object = json_pack("{s:s, s:s, s:s, s:i}", "says", claim->says, "check", claim->text, "state",
                                   experiment_state_names[verdict.state], "variations_against", (int)verdict.n_against);
        const char *noise = experiment_noise_text(grid, claim, grid->plan->arena);
        if (*noise)
            json_object_set_new(object, "noise", json_string(noise));
        if (claim->reason)
            json_object_set_new(object, "reason", json_string(claim->reason));
        if (claim->n_shown)
            json_object_set_new(object, "shown_by", shown_json(claim, grid->plan->arena));
        json_array_append_new(array, object);
    }
    return array;
}

/* How the paper draws it. */
static json_t *figure_json(const struct experiment *experiment) {
    const struct experiment_figure *figure = &experiment->figure;
    json_t *object = json_object(), *measures = json_array();
    json_object_set_new(object, "kind", json_string(experiment_figure_names[figure->kind]));
    if (figure->x >= 0)
        json_object_set_new(object, "x", json_string(experiment->axis[figure->x].name));
    if (figure->group >= 0)
        json_object_set_new(object, "group", json_string(experiment->axis[figure->group].name));
    for (unsigned i = 0; i < figure->n_measures; i++)
        json_array_append_new(measures, json_string(experiment->measure[figure->measure[i]].name));
    json_object_set_new(object, "measures", measures);
    if (figure->series)
        json_object_set_new(object, "series", json_string(figure->series));
    return object;
}

static json_t *measures_json(const struct experiment *experiment) {
    json_t *array = json_array();
    for (unsigned i = 0; i < experiment->n_measures; i++)
        json_array_append_new(
            array, json_pack("{s:s, s:s}", "name", experiment->measure[i].name, "title", experiment->measure[i].title));
    return array;
}

static json_t *results_json(const struct experiment_grid *grid, bool has_runs) {
    const struct experiment *experiment = grid->experiment;
    json_t *object = json_object(), *ours = json_array();
    for (unsigned i = 0; i < experiment->n_ours; i++)
        json_array_append_new(ours, json_string(experiment->ours[i]));
    json_object_set_new(object, "name", json_string(experiment->name));
    if (experiment->source)
        json_object_set_new(object, "source", json_string(experiment->source));
    json_object_set_new(object, "title", json_string(experiment->title));
    if (experiment_has_sizes(experiment))
        json_object_set_new(object, "size", json_string(experiment_size_at(experiment, grid->plan->size)));
    const char *estimates = experiment_estimates_text(grid, grid->plan->arena);
    if (estimates)
        json_object_set_new(object, "estimates", json_string(estimates));
    json_object_set_new(object, "ours", ours);
    json_object_set_new(object, "measures", measures_json(experiment));
    json_object_set_new(object, "figure", figure_json(experiment));
    json_object_set_new(object, "values", values_json(grid, has_runs));
    json_object_set_new(object, "claims", claims_json(grid));
    return object;
}

json_t *experiment_results_json(const struct experiment_grid *grid, struct base_arena *arena) {
    (void)arena;
    return results_json(grid, false);
}

/* A run as the store has it, with its settings. */
static json_t *trial_json(const struct experiment_trial *trial) {
    json_t *object = json_is_object(trial->result) ? json_copy(trial->result) : json_object(), *set = json_array();
    const struct experiment_settings *settings = &trial->settings;
    for (unsigned i = 0; i < settings->set.count; i++)
        json_array_append_new(set, json_string(settings->set.item[i]));
    json_object_set_new(object, "program", json_string(settings->program ? settings->program : "example"));
    if (settings->arguments)
        json_object_set_new(object, "arguments", json_string(settings->arguments));
    if (trial->stored.size)
        json_object_set_new(object, "size", json_string(trial->stored.size));
    if (trial->stored.machine)
        json_object_set_new(object, "machine", json_string(trial->stored.machine));
    if (trial->stored.scheduler)
        json_object_set_new(object, "scheduler", json_string(trial->stored.scheduler));
    if (trial->stored.divergence)
        json_object_set_new(object, "divergence", json_string(trial->stored.divergence));
    if (settings->set.count)
        json_object_set(object, "set", set);
    json_decref(set);
    if (trial->failure || trial->refusal)
        json_object_set_new(object, "error", json_string(trial->failure ? trial->failure : trial->refusal));
    return object;
}

json_t *experiment_results_document(const struct experiment_grid *grids, unsigned count) {
    json_t *document = json_object(), *experiments = json_array(), *runs = json_array();
    const struct experiment_plan *plan = count ? grids[0].plan : NULL;
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(experiments, results_json(&grids[i], true));
    for (unsigned i = 0; plan && i < plan->n_trials; i++)
        json_array_append_new(runs, trial_json(plan->trial[i]));
    json_object_set_new(document, "experiments", experiments);
    json_object_set_new(document, "runs", runs);
    return document;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

/* The column of the size that the runs of an experiment have, unless an axis of that name chooses sizes. */
static const char size_column[] = "size";

/* The columns between "measure" and "ours": the size, then the axes of all experiments, each name once. */
struct columns {
    const char **name;
    unsigned count;
};

static void add_column(struct columns *columns, const char *name) {
    for (unsigned i = 0; i < columns->count; i++)
        if (strcmp(columns->name[i], name) == 0)
            return;
    columns->name[columns->count++] = name;
}

static struct columns make_columns(const struct experiment_grid *grids, unsigned count, struct base_arena *arena) {
    struct columns columns = {.name = BASE_ARENA_ARRAY(arena, const char *, (size_t)count *EXPERIMENT_MOST_AXES + 1)};
    add_column(&columns, size_column);
    for (unsigned i = 0; i < count; i++)
        for (unsigned a = 0; a < grids[i].experiment->n_axes; a++)
            add_column(&columns, grids[i].experiment->axis[a].name);
    return columns;
}

/* Names are the user's and may contain anything; those that need no quotes have none. */
static void write_text(FILE *file, const char *text) {
    bool is_quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (is_quoted)
        fputc('"', file);
    for (; *text; text++)
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    if (is_quoted)
        fputc('"', file);
    fputc(',', file);
}

static const char *column_text(const struct experiment_grid *grid, const struct experiment_cell *cell,
                               const char *column) {
    const struct experiment *experiment = grid->experiment;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        if (strcmp(experiment->axis[a].name, column) == 0)
            return experiment_point_name(&experiment->axis[a], cell->at[a]);
    const char *size =
        experiment_has_sizes(experiment) ? experiment_size_at(experiment, grid->plan->size) : experiment->common.size;
    return strcmp(column, size_column) == 0 && size ? size : "";
}

static void write_number(FILE *file, double value) {
    if (!isnan(value))
        fprintf(file, "%.9g", value);
}

/* Half the interval of the cycles of the run that the value comes from, as a part of them; nothing for means. */
static void write_interval(FILE *file, const struct experiment_grid *grid, const struct experiment_cell *cell) {
    int run = run_of(grid, cell);
    if (run >= 0)
        fprintf(file, ",%.9g", experiment_estimate_halfwidth(grid->plan->trial[run]));
    else
        fputc(',', file);
}

static void write_lines(FILE *file, const struct experiment_grid *grid, const struct columns *columns,
                        bool has_estimates) {
    const struct experiment *experiment = grid->experiment;
    for (unsigned m = 0; m < experiment->n_measures; m++)
        for (unsigned i = 0; i < count_all(experiment); i++) {
            struct experiment_cell cell = cell_of_all(experiment, i);
            struct experiment_value value = experiment_value_of(grid, m, &cell);
            write_text(file, experiment->name);
            write_text(file, experiment->measure[m].name);
            for (unsigned c = 0; c < columns->count; c++)
                write_text(file, column_text(grid, &cell, columns->name[c]));
            const double number[] = {value.mean, value.low, value.high, experiment_paper_number(experiment, m, &cell)};
            for (unsigned k = 0; k < sizeof number / sizeof *number; k++) {
                fputs(k ? "," : "", file);
                write_number(file, number[k]);
            }
            if (has_estimates)
                write_interval(file, grid, &cell);
            fputc('\n', file);
        }
}

void experiment_write_csv(FILE *file, const struct experiment_grid *grids, unsigned count, struct base_arena *arena) {
    struct columns columns = make_columns(grids, count, arena);
    bool has_estimates = false;
    for (unsigned i = 0; i < count; i++)
        has_estimates |= experiment_estimates_text(&grids[i], arena) != NULL;
    fputs("experiment,measure,", file);
    for (unsigned c = 0; c < columns.count; c++)
        write_text(file, columns.name[c]);
    fprintf(file, "ours,low,high,paper%s\n", has_estimates ? ",cycles_halfwidth" : "");
    for (unsigned i = 0; i < count; i++)
        write_lines(file, &grids[i], &columns, has_estimates);
}
