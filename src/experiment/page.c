/* All results as a Markdown page: our number beside the paper's, and which claims hold. The page has no date and no
 * time, so that it changes only when a result does. */
#include <math.h>
#include <string.h>

#include "experiment/matrix.h"
#include "experiment/noise.h"
#include "experiment/show.h"

struct counts {
    unsigned n[EXPERIMENT_N_STATES];
};

static struct counts count_states(const struct experiment_grid *grid) {
    struct counts counts = {{0}};
    for (unsigned i = 0; i < grid->experiment->n_claims; i++)
        counts.n[experiment_judge(grid, &grid->experiment->claim[i]).state]++;
    return counts;
}

static void add_counts(struct counts *to, const struct counts *more) {
    for (unsigned i = 0; i < EXPERIMENT_N_STATES; i++)
        to->n[i] += more->n[i];
}

/* The cells of a row. Claims that are not known have a column only if the page has some. */
static void write_counts(FILE *file, const struct counts *counts, const struct counts *all) {
    unsigned n_columns = all->n[EXPERIMENT_UNKNOWN] ? EXPERIMENT_N_STATES : EXPERIMENT_UNKNOWN;
    for (unsigned i = 0; i < n_columns; i++)
        fprintf(file, " %u |", counts->n[i]);
    fputc('\n', file);
}

static void write_heading(FILE *file, const char *first, const struct counts *all) {
    static const char *const title[] = {"hold", "hold mostly", "explained", "open", "not measured"};
    unsigned n_columns = all->n[EXPERIMENT_UNKNOWN] ? EXPERIMENT_N_STATES : EXPERIMENT_UNKNOWN;
    fputs(first, file);
    for (unsigned i = 0; i < n_columns; i++)
        fprintf(file, " %s |", title[i]);
    fputs("\n|---|---|", file);
    for (unsigned i = 0; i < n_columns; i++)
        fputs("---|", file);
    fputc('\n', file);
}

/* ---- The head ---------------------------------------------------------------------------------------------------- */

/* How a heading is named in a link: without its dots. */
static void write_link(FILE *file, const char *name) {
    fprintf(file, "[%s](#", name);
    for (; *name; name++)
        if (*name != '.')
            fputc(*name, file);
    fputc(')', file);
}

/* A paper's experiments have names that begin with the paper's, up to the hyphen. */
static size_t paper_length(const struct experiment *experiment) { return strcspn(experiment->name, "-"); }

static bool is_of_paper(const struct experiment *experiment, const struct experiment *of) {
    return paper_length(experiment) == paper_length(of) && strncmp(experiment->name, of->name, paper_length(of)) == 0;
}

static void write_papers(FILE *file, const struct experiment_page *page, const struct counts *all) {
    write_heading(file, "| paper | claims |", all);
    for (unsigned i = 0; i < page->count; i++) {
        const struct experiment *first = page->grid[i].experiment;
        struct counts counts = {{0}};
        unsigned n_claims = 0;
        if (i > 0 && is_of_paper(page->grid[i - 1].experiment, first))
            continue;
        for (unsigned k = i; k < page->count && is_of_paper(page->grid[k].experiment, first); k++) {
            struct counts more = count_states(&page->grid[k]);
            add_counts(&counts, &more);
            n_claims += page->grid[k].experiment->n_claims;
        }
        fprintf(file, "| %.*s | %u |", (int)paper_length(first), first->name, n_claims);
        write_counts(file, &counts, all);
    }
    unsigned n_claims = 0;
    for (unsigned i = 0; i < EXPERIMENT_N_STATES; i++)
        n_claims += all->n[i];
    fprintf(file, "| all | %u |", n_claims);
    write_counts(file, all, all);
    fputc('\n', file);
}

static void write_summary(FILE *file, const struct experiment_page *page, const struct counts *all) {
    write_heading(file, "| experiment | what it shows |", all);
    for (unsigned i = 0; i < page->count; i++) {
        struct counts counts = count_states(&page->grid[i]);
        fputs("| ", file);
        write_link(file, page->grid[i].experiment->name);
        fprintf(file, " | %s |", page->grid[i].experiment->title);
        write_counts(file, &counts, all);
    }
    fputs("| all | |", file);
    write_counts(file, all, all);
}

/* The verdict at size medium if it is known and another one; EXPERIMENT_UNKNOWN otherwise. */
static enum experiment_state other_verdict(const struct experiment_page *page, unsigned i,
                                           const struct experiment_claim *claim) {
    if (!page->medium)
        return EXPERIMENT_UNKNOWN;
    enum experiment_state medium = experiment_judge_alone(&page->medium[i], claim).state;
    return medium == experiment_judge_alone(&page->grid[i], claim).state ? EXPERIMENT_UNKNOWN : medium;
}

static void write_about_noise(FILE *file, const struct experiment_page *page) {
    unsigned n_known = 0, n_same_size = 0;
    for (unsigned i = 0; i < page->count; i++)
        for (unsigned k = 0; k < page->grid[i].experiment->n_claims; k++) {
            const struct experiment_grid *grid = &page->grid[i];
            const struct experiment_grid *noise = experiment_find_noise(grid, &grid->experiment->claim[k]);
            n_known += noise != NULL;
            n_same_size += noise && experiment_is_same_size(grid, noise);
        }
    if (n_known)
        fprintf(file,
                "%u claims were also judged in neighbours (`--noise`), other latencies of the L1 and other seeds, "
                "which give the spread of their values.\nNeighbours of the page's own size, which %u claims have, "
                "decide as variations do. With those of another size, a claim that\nholds at that size, but not in "
                "all neighbours, holds mostly.\n",
                n_known, n_same_size);
}

static void write_about_medium(FILE *file, const struct experiment_page *page) {
    unsigned n_known = 0, n_claims = 0, n_differ = 0;
    for (unsigned i = 0; i < page->count; i++)
        for (unsigned k = 0; k < page->grid[i].experiment->n_claims; k++) {
            const struct experiment_claim *claim = &page->grid[i].experiment->claim[k];
            n_claims++;
            n_known += experiment_judge(&page->medium[i], claim).state != EXPERIMENT_UNKNOWN;
            n_differ += other_verdict(page, i, claim) != EXPERIMENT_UNKNOWN;
        }
    fprintf(file, "At size medium, %u of %u claims are known and %u have another verdict, which stands beside them.\n",
            n_known, n_claims, n_differ);
}

static void write_head(FILE *file, const struct experiment_page *page) {
    fprintf(file,
            "# The papers' results and ours\n\n"
            "`heddle %s --report %s` wrote this page from its measurements at size %s. Nothing is tuned to meet a\n"
            "paper's number. A claim holds if its check is true in all variations of the runs, and mostly if it is "
            "true in more than half of them.\nA claim that does not hold is explained if its experiment names runs "
            "that show the reason (`shown_by`). Otherwise it is open.\n`heddle paper --reasons` repeats these runs. "
            "[experiments.md](experiments.md) explains the files of `experiments/` and how to write one.\n",
            page->command, page->path, page->size);
    if (page->medium)
        write_about_medium(file, page);
    write_about_noise(file, page);
    struct counts all = {{0}};
    for (unsigned i = 0; i < page->count; i++) {
        struct counts more = count_states(&page->grid[i]);
        add_counts(&all, &more);
    }
    fputc('\n', file);
    write_papers(file, page, &all);
    write_summary(file, page, &all);
    fputc('\n', file);
}

/* ---- Experiments ------------------------------------------------------------------------------------------------- */

static void write_numbers(FILE *file, const struct experiment_grid *grid, struct base_arena *arena) {
    const struct experiment *experiment = grid->experiment;
    fputs("| at | measure | ours | paper | difference | where in the paper |\n|---|---|---|---|---|---|\n", file);
    for (unsigned i = 0; i < experiment->n_numbers; i++) {
        const struct experiment_number *number = &experiment->number[i];
        const struct experiment_measure_row *measure = &experiment->measure[number->measure];
        double ours = experiment_value_of(grid, number->measure, &number->cell).mean;
        fprintf(file, "| %s | %s | %s | %s | ", experiment_cell_name(experiment, &number->cell, arena), measure->title,
                experiment_value_text(grid, number->measure, &number->cell, arena),
                experiment_number_text(measure, number->value, arena));
        if (isnan(ours))
            fputs("-", file);
        else
            fprintf(file, "%+.*f", (int)measure->places, ours - number->value);
        fprintf(file, " | %s%s%s |\n", number->where ? number->where : "", number->where && number->note ? "; " : "",
                number->note ? number->note : "");
    }
    fputc('\n', file);
}

static void write_reason(FILE *file, const struct experiment_claim *claim, struct base_arena *arena) {
    size_t n = strlen(claim->reason);
    bool has_end = n > 0 && claim->reason[n - 1] == '.';
    fprintf(file, " Why not: %s%s Shown by", claim->reason, has_end ? "" : ".");
    for (unsigned i = 0; i < claim->n_shown; i++) {
        const char *with = experiment_settings_text(&claim->shown[i].with, arena);
        fprintf(file, "%s `%s`%s%s%s", i ? "," : "", claim->shown[i].text, *with ? " with `" : "", with,
                *with ? "`" : "");
    }
    fputc('.', file);
}

static void write_claim(FILE *file, const struct experiment_page *page, unsigned i,
                        const struct experiment_claim *claim, struct base_arena *arena) {
    const struct experiment_grid *grid = &page->grid[i];
    struct experiment_verdict verdict = experiment_judge(grid, claim);
    enum experiment_state medium = other_verdict(page, i, claim);
    fprintf(file, "- **%s**", experiment_state_names[verdict.state]);
    if (medium != EXPERIMENT_UNKNOWN)
        fprintf(file, " (size medium: %s)", experiment_state_names[medium]);
    fprintf(file, ": %s `%s`", claim->says, claim->text);
    const char *noise = experiment_noise_text(grid, claim, arena);
    if (!*noise && verdict.n_against)
        fprintf(file, " Otherwise in %u of %u variations.", verdict.n_against, verdict.n);
    if (verdict.state == EXPERIMENT_EXPLAINED)
        write_reason(file, claim, arena);
    else if (verdict.state == EXPERIMENT_OPEN && claim->reason)
        fprintf(file, " Supposed, but shown by no run: %s", claim->reason);
    if (verdict.state == EXPERIMENT_HOLDS && claim->test)
        fprintf(file, " A test holds it at size %s.", claim->test);
    fprintf(file, *noise ? "\n  - Noise: in %s.\n" : "\n", noise);
}

static void write_matrix(FILE *file, const struct experiment_matrix *matrix) {
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

static void write_experiment(FILE *file, const struct experiment_page *page, unsigned i, struct base_arena *arena) {
    const struct experiment_grid *grid = &page->grid[i];
    const struct experiment *experiment = grid->experiment;
    fprintf(file, "## %s\n\n%s.", experiment->name, experiment->title);
    if (experiment->source)
        fprintf(file, " %s.", experiment->source);
    if (experiment->result)
        fprintf(file, " The paper: %s.", experiment->result);
    if (experiment->common.size)
        fprintf(file, " Always at size %s.", experiment->common.size);
    else if (strcmp(experiment_size_at(experiment, page->size), page->size) != 0)
        fprintf(file, " Measured at size %s: %s", experiment->largest_size, experiment->largest_why);
    const char *estimates = experiment_estimates_text(grid, arena);
    if (estimates)
        fprintf(file, " The runs were %s.", estimates);
    fputs("\n\n", file);
    for (unsigned k = 0; k < experiment->n_ours; k++)
        fprintf(file, "- Ours: %s\n", experiment->ours[k]);
    if (experiment->n_ours)
        fputc('\n', file);
    for (unsigned k = 0; k < experiment->n_claims; k++)
        write_claim(file, page, i, &experiment->claim[k], arena);
    if (experiment->n_claims)
        fputc('\n', file);
    if (experiment->n_numbers)
        write_numbers(file, grid, arena);
    unsigned n;
    const struct experiment_matrix *matrix = experiment_make_matrices(grid, &n, arena);
    for (unsigned k = 0; k < n; k++)
        write_matrix(file, &matrix[k]);
}

void experiment_write_page(FILE *file, const struct experiment_page *page, struct base_arena *arena) {
    write_head(file, page);
    for (unsigned i = 0; i < page->count; i++)
        write_experiment(file, page, i, arena);
}
