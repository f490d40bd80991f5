/* Results on a terminal. */
#include <math.h>
#include <string.h>

#include "experiment/matrix.h"
#include "experiment/noise.h"
#include "experiment/show.h"
#include "report/report.h"

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

enum { MOST_COLUMNS = 12 }; /* without the names of the rows; more make another table */

static void print_matrix(FILE *file, const struct experiment_matrix *matrix, bool is_colored,
                         struct base_arena *arena) {
    if (matrix->title)
        fprintf(file, "%s\n", matrix->title);
    for (unsigned first = 0; first < matrix->n_columns; first += MOST_COLUMNS) {
        unsigned n = matrix->n_columns - first < MOST_COLUMNS ? matrix->n_columns - first : MOST_COLUMNS;
        struct report_table table = report_table_new(arena, n + 1);
        report_table_cell(&table, "%s", matrix->corner);
        for (unsigned c = 0; c < n; c++)
            report_table_cell(&table, "%s", matrix->column[first + c]);
        for (unsigned r = 0; r < matrix->n_rows; r++) {
            report_table_cell(&table, "%s", matrix->row[r]);
            for (unsigned c = 0; c < n; c++)
                report_table_cell(&table, "%s", matrix->cell[r * matrix->n_columns + first + c]);
        }
        report_table_print(&table, file, is_colored);
        fputc('\n', file);
    }
}

/* ---- Beside the paper -------------------------------------------------------------------------------------------- */

enum { BAR_WIDTH = 30 };

struct scale {
    double low, high; /* 0 is between them */
};

static unsigned column_of(struct scale scale, double value) {
    return (unsigned)lround((value - scale.low) / (scale.high - scale.low) * BAR_WIDTH);
}

/* A bar from 0 to ours, with a | at the paper's. */
static const char *draw_bar(struct scale scale, double ours, double paper, struct base_arena *arena) {
    char *bar = base_arena_copy(arena, "                                ", BAR_WIDTH + 1);
    if (!(scale.high > scale.low))
        return "";
    unsigned zero = column_of(scale, 0), end = isnan(ours) ? zero : column_of(scale, ours);
    for (unsigned i = zero < end ? zero : end; i < (zero < end ? end : zero); i++)
        bar[i] = '=';
    bar[column_of(scale, paper)] = '|';
    size_t length = BAR_WIDTH + 1;
    while (length && bar[length - 1] == ' ')
        bar[--length] = '\0';
    return bar;
}

/* The scale for all numbers of this measure. */
static struct scale scale_of(const struct experiment_grid *grid, unsigned measure) {
    struct scale scale = {0, 0};
    for (unsigned i = 0; i < grid->experiment->n_numbers; i++) {
        const struct experiment_number *number = &grid->experiment->number[i];
        if (number->measure != measure)
            continue;
        double ours = experiment_value_of(grid, measure, &number->cell).mean; /* NaN loses */
        scale.low = fmin(scale.low, fmin(number->value, ours));
        scale.high = fmax(scale.high, fmax(number->value, ours));
    }
    return scale;
}

static void print_numbers(FILE *file, const struct experiment_grid *grid, bool is_colored, struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    struct report_table table = report_table_new(arena, 6);
    table.is_left[1] = table.is_left[5] = true;
    static const char *const headings[] = {"at", "measure", "ours", "paper", "difference", "= ours, | paper"};
    for (unsigned i = 0; i < 6; i++)
        report_table_cell(&table, "%s", headings[i]);
    for (unsigned i = 0; i < experiment->n_numbers; i++) {
        const struct experiment_number *number = &experiment->number[i];
        const struct experiment_measure_row *measure = &experiment->measure[number->measure];
        double ours = experiment_value_of(grid, number->measure, &number->cell).mean;
        report_table_cell(&table, "%s", experiment_cell_name(experiment, &number->cell, arena));
        report_table_cell(&table, "%s", measure->title);
        report_table_cell(&table, "%s", experiment_value_text(grid, number->measure, &number->cell, arena));
        report_table_cell(&table, "%s", experiment_number_text(measure, number->value, arena));
        if (isnan(ours))
            report_table_cell(&table, "-");
        else
            report_table_cell(&table, "%+.*f", (int)measure->places, ours - number->value);
        report_table_cell(&table, "%s", draw_bar(scale_of(grid, number->measure), ours, number->value, arena));
    }
    report_table_print(&table, file, is_colored);
    for (unsigned i = 0; i < experiment->n_numbers; i++)
        if (experiment->number[i].note)
            fprintf(file, "%s: %s\n", experiment_cell_name(experiment, &experiment->number[i].cell, arena),
                    experiment->number[i].note);
    fputc('\n', file);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

static void print_claims(FILE *file, const struct experiment_grid *grid, bool is_colored, struct base_arena *arena) {
    static const char *const color[] = {"\033[32m", "\033[32m", "\033[33m", "\033[31m", ""};
    for (unsigned i = 0; i < grid->experiment->n_claims; i++) {
        const struct experiment_claim *claim = &grid->experiment->claim[i];
        struct experiment_verdict verdict = experiment_judge(grid, claim);
        fprintf(file, "  %s%-9s%s  %s", is_colored ? color[verdict.state] : "", experiment_state_names[verdict.state],
                is_colored && *color[verdict.state] ? "\033[0m" : "", claim->says);
        const char *noise = experiment_noise_text(grid, claim, arena);
        if (*noise)
            fprintf(file, " (in %s)", noise);
        else if (verdict.n_against)
            fprintf(file, " (otherwise in %u of %u variations)", verdict.n_against, verdict.n);
        fputc('\n', file);
        if (claim->reason && verdict.state != EXPERIMENT_HOLDS && verdict.state != EXPERIMENT_HOLDS_MOSTLY)
            fprintf(file, "             %s%s\n",
                    claim->n_shown ? "" : "supposed, but shown by no run: ", claim->reason);
    }
}

static const char *machine_of(const struct experiment_grid *grid) {
    const struct experiment_trial *trial = grid->trial[0] >= 0 ? grid->plan->trial[grid->trial[0]] : NULL;
    return trial && !trial->settings.example ? trial->stored.machine : NULL;
}

void experiment_print_results(FILE *file, const struct experiment_grid *grid, bool is_colored,
                              struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    const char *machine = machine_of(grid);
    fprintf(file, "%s: %s", experiment->name, experiment->title);
    fprintf(file, experiment->source ? " (%s)\n" : "\n", experiment->source);
    if (machine)
        fprintf(file, "size %s, first on %s\n", experiment_size_at(experiment, grid->plan->size), machine);
    const char *estimates = experiment_estimates_text(grid, arena);
    if (estimates)
        fprintf(file, "%s\n", estimates);
    for (unsigned i = 0; i < experiment->n_ours; i++)
        fprintf(file, "ours: %s\n", experiment->ours[i]);
    fputc('\n', file);
    unsigned n;
    const struct experiment_matrix *matrix = experiment_make_matrices(grid, &n, arena);
    for (unsigned i = 0; i < n; i++)
        print_matrix(file, &matrix[i], is_colored, arena);
    if (experiment->n_numbers)
        print_numbers(file, grid, is_colored, arena);
    print_claims(file, grid, is_colored, arena);
}
