/* All results as a Markdown page: our number beside the paper's, and which claims hold. The page has no date and no
 * time, so that it changes only when a result does. */
#include <math.h>
#include <string.h>

#include "cli/experiments/matrix.h"
#include "cli/experiments/show.h"

static void count_states(const struct cli_grid *grid, unsigned count[4]) {
    for (unsigned i = 0; i < grid->experiment->n_claims; i++)
        count[cli_judge(grid, &grid->experiment->claim[i]).state]++;
}

/* How a heading is named in a link: without its dots. */
static void write_link(FILE *file, const char *name) {
    fprintf(file, "[%s](#", name);
    for (; *name; name++)
        if (*name != '.')
            fputc(*name, file);
    fputc(')', file);
}

static void write_summary(FILE *file, const struct cli_grid *grids, unsigned n) {
    unsigned all[4] = {0};
    fputs("| experiment | what it shows | claims that hold | explained | open |\n|---|---|---|---|---|\n", file);
    for (unsigned i = 0; i < n; i++) {
        const struct cli_experiment *experiment = grids[i].experiment;
        unsigned count[4] = {0};
        count_states(&grids[i], count);
        fputs("| ", file);
        write_link(file, experiment->name);
        fprintf(file, " | %s | %u | %u | %u |\n", experiment->title, count[CLI_HOLDS], count[CLI_EXPLAINED],
                count[CLI_OPEN] + count[CLI_UNKNOWN]);
        for (unsigned k = 0; k < 4; k++)
            all[k] += count[k];
    }
    fprintf(file, "| all | | %u | %u | %u |\n", all[CLI_HOLDS], all[CLI_EXPLAINED], all[CLI_OPEN] + all[CLI_UNKNOWN]);
}

static void write_numbers(FILE *file, const struct cli_grid *grid, struct base_arena *arena) {
    const struct cli_experiment *experiment = grid->experiment;
    fputs("| at | measure | ours | paper | difference | where in the paper |\n|---|---|---|---|---|---|\n", file);
    for (unsigned i = 0; i < experiment->n_numbers; i++) {
        const struct cli_number *number = &experiment->number[i];
        const struct cli_measure_row *measure = &experiment->measure[number->measure];
        double ours = cli_value_of(grid, number->measure, &number->cell).mean;
        fprintf(file, "| %s | %s | %s | %s | ", cli_cell_name(experiment, &number->cell, arena), measure->title,
                cli_value_text(grid, number->measure, &number->cell, arena),
                cli_number_text(measure, number->value, arena));
        if (isnan(ours))
            fputs("-", file);
        else
            fprintf(file, "%+.*f", (int)measure->places, ours - number->value);
        fprintf(file, " | %s%s%s |\n", number->where ? number->where : "", number->where && number->note ? "; " : "",
                number->note ? number->note : "");
    }
    fputc('\n', file);
}

static void write_reason(FILE *file, const struct cli_claim *claim, struct base_arena *arena) {
    fprintf(file, " Why not: %s Shown by", claim->reason);
    for (unsigned i = 0; i < claim->n_shown; i++) {
        const char *with = cli_settings_text(&claim->shown[i].with, arena);
        fprintf(file, "%s `%s`%s%s%s", i ? "," : "", claim->shown[i].text, *with ? " with `" : "", with,
                *with ? "`" : "");
    }
    fputc('.', file);
}

static void write_claims(FILE *file, const struct cli_grid *grid, struct base_arena *arena) {
    const struct cli_experiment *experiment = grid->experiment;
    for (unsigned i = 0; i < experiment->n_claims; i++) {
        const struct cli_claim *claim = &experiment->claim[i];
        struct cli_verdict verdict = cli_judge(grid, claim);
        fprintf(file, "- **%s**: %s `%s`", cli_state_names[verdict.state], claim->says, claim->text);
        if (verdict.n_against)
            fprintf(file, " The spread crosses: otherwise in %u of %u variations.", verdict.n_against,
                    experiment->n_variations);
        if (verdict.state == CLI_EXPLAINED)
            write_reason(file, claim, arena);
        else if (verdict.state == CLI_OPEN && claim->reason)
            fprintf(file, " Supposed, but shown by no run: %s", claim->reason);
        if (verdict.state == CLI_HOLDS && claim->test)
            fprintf(file, " A test holds it at size %s.", claim->test);
        fputc('\n', file);
    }
    fputc('\n', file);
}

static void write_matrix(FILE *file, const struct cli_matrix *matrix) {
    if (matrix->title)
        fprintf(file, "%s:\n\n", matrix->title);
    fprintf(file, "| %s |", matrix->corner);
    for (unsigned c = 0; c < matrix->n_columns; c++)
        fprintf(file, " %s |", matrix->column[c]);
    fputs("\n|---|", file);
    for (unsigned c = 0; c < matrix->n_columns; c++)
        fputs("---|", file);
    fputc('\n', file);
    for (unsigned r = 0; r < matrix->n_rows; r++) {
        fprintf(file, "| %s |", matrix->row[r]);
        for (unsigned c = 0; c < matrix->n_columns; c++)
            fprintf(file, " %s |", matrix->cell[r * matrix->n_columns + c]);
        fputc('\n', file);
    }
    fputc('\n', file);
}

static void write_experiment(FILE *file, const struct cli_grid *grid, struct base_arena *arena) {
    const struct cli_experiment *experiment = grid->experiment;
    fprintf(file, "## %s\n\n%s.", experiment->name, experiment->title);
    if (experiment->source)
        fprintf(file, " %s.", experiment->source);
    if (experiment->result)
        fprintf(file, " The paper: %s.", experiment->result);
    if (experiment->common.size)
        fprintf(file, " Always at size %s.", experiment->common.size);
    fputs("\n\n", file);
    for (unsigned i = 0; i < experiment->n_ours; i++)
        fprintf(file, "- Ours: %s\n", experiment->ours[i]);
    if (experiment->n_ours)
        fputc('\n', file);
    if (experiment->n_claims)
        write_claims(file, grid, arena);
    if (experiment->n_numbers)
        write_numbers(file, grid, arena);
    unsigned n;
    const struct cli_matrix *matrix = cli_make_matrices(grid, &n, arena);
    for (unsigned i = 0; i < n; i++)
        write_matrix(file, &matrix[i]);
}

void cli_write_page(FILE *file, const struct cli_grid *grids, unsigned count, const char *size,
                    struct base_arena *arena) {
    fprintf(file,
            "# The papers' results and ours\n\n"
            "`heddle paper --all --size %s --report docs/results.md` wrote this page from what it measured; nothing is "
            "tuned to meet a\npaper's number. A claim holds when its check does, on the means where an experiment "
            "has variations. A claim that does not hold is\nexplained where the experiment's file names runs that "
            "show the reason, and open otherwise; `heddle paper --reasons` repeats them.\n"
            "[experiments.md](experiments.md) says how to read the files of `experiments/` and how to write one.\n\n",
            size);
    write_summary(file, grids, count);
    fputc('\n', file);
    for (unsigned i = 0; i < count; i++)
        write_experiment(file, &grids[i], arena);
}
