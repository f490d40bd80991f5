/* Tables and figures of papers that Heddle measures again. An experiment is one row of the table in experiments.c and
 * one function that fills in the results. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

enum { CLI_MAX_RESULTS = 256 };

/* One number beside the paper's. */
struct cli_result {
    const char *subject, *measure; /* "gto", "cycles" */
    double ours, paper;            /* paper: NAN where it prints none */
    const char *note;              /* NULL: none */
};

struct cli_results {
    struct base_arena *arena;
    unsigned size;          /* of the workloads that are simulated, as --size numbers it */
    unsigned n_threads;     /* runs at once; 0: one for each processor */
    bool is_quiet;          /* no progress */
    const char *conditions; /* how it was measured, where that is not as in the paper; NULL: nothing to say */
    struct cli_result item[CLI_MAX_RESULTS];
    unsigned count;
};

void cli_add_result(struct cli_results *results, const char *subject, const char *measure, double ours, double paper,
                    const char *note);

struct cli_experiment {
    const char *name;                        /* liu2023-fig1 */
    const char *source;                      /* the paper */
    const char *summary;                     /* what it shows, one line */
    const char *paper;                       /* what the paper found, one line */
    int (*run)(struct cli_results *results); /* the exit status, after one line if it is not CLI_DONE */
    int (*draw)(FILE *file);                 /* a picture below the table, the same status; NULL: none */
    bool has_sizes;                          /* it simulates workloads */
};

/* In the order of the list. */
extern const struct cli_experiment cli_experiments[];
extern const unsigned cli_n_experiments;

/* paper_liu2023.c */
int cli_run_liu2023_fig1(struct cli_results *results);
int cli_draw_liu2023_fig1(FILE *file);

/* paper_narasiman2014.c */
int cli_run_narasiman2014_fig81(struct cli_results *results);
int cli_run_narasiman2014_fig82(struct cli_results *results);
int cli_run_narasiman2014_fig83(struct cli_results *results);
int cli_run_narasiman2014_fig84(struct cli_results *results);
