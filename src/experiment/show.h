/* Output of results. */
#pragma once

#include <stdio.h>

#include "experiment/values.h"

/* estimates.c: half the width of the interval that contains the cycles of a run, as a part of them; 0: all launches
 * were timed. */
double experiment_estimate_halfwidth(const struct experiment_trial *trial);
/* A clause that names the widest of these for each program; NULL: no run was estimated. */
const char *experiment_estimates_text(const struct experiment_grid *grid, struct base_arena *arena);

/* table.c: tables, bars beside the paper's numbers, and the verdicts on claims. */
void experiment_print_results(FILE *file, const struct experiment_grid *grid, bool is_colored,
                              struct base_arena *arena);
/* example.c: warps over time, below the tables; nothing for other experiments. */
void experiment_draw_examples(FILE *file, const struct experiment_grid *grid);

/* export.c */
json_t *experiment_results_json(const struct experiment_grid *grid, struct base_arena *arena);
/* For a page: all experiments and, once each, the runs that their values come from. */
json_t *experiment_results_document(const struct experiment_grid *grids, unsigned count);
/* A line for each value, with a column for each axis of the experiments. */
void experiment_write_csv(FILE *file, const struct experiment_grid *grids, unsigned count, struct base_arena *arena);

/* page.c: all of them as a Markdown page. */
struct experiment_page {
    const struct experiment_grid *grid; /* of each experiment */
    const struct experiment_grid
        *medium; /* the same at size medium, as far as there are results; NULL: this is that size */
    unsigned count;
    const char *size, *command, *path; /* how it was measured: the words after `heddle`, and the page's file */
};
void experiment_write_page(FILE *file, const struct experiment_page *page, struct base_arena *arena);

/* plot.c: the figure as SVG. Returns false if the file cannot be written (errno). */
bool experiment_write_plot(FILE *file, const struct experiment_grid *grid, struct base_arena *arena);
