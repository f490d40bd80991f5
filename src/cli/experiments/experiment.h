/* An experiment as data: which programs run on which machines, what is measured, what a paper printed, and what it
 * claims. Each file in experiments/ is one, and a user's own has the same form; docs/experiments.md explains the keys.
 *
 * The runs of an experiment fill a grid with one dimension for each axis. A cell of the grid is one point of every
 * axis; an axis may also have means, which follow its points. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "cli/options/options.h"
#include "sched/example.h"

enum {
    CLI_MOST_AXES = 4,
    CLI_MOST_POINTS = 512, /* of an axis, including its means */
    CLI_MOST_MEASURES_OF_EXPERIMENT = 16,
};

/* The settings of a run. A key that is not given is NULL or 0 and keeps the other settings' value; arguments and
 * changes of the machine add up. */
struct cli_settings {
    const char *program, *arguments; /* arguments: separated by spaces */
    const char *medium_arguments;    /* more of them, at size medium alone */
    const char *size;                /* "small", "medium" or "paper"; NULL: the command's */
    const char *machine, *scheduler, *divergence;
    struct cli_words set;          /* KEY=VALUE each */
    uint64_t sample_cycles;        /* 0: no time series */
    bool records_threads;          /* counts for each thread and branch */
    unsigned neighbour;            /* 1 to 4: the machine's neighbour (noise.h); 0: the machine itself */
    unsigned seed;                 /* of a workload's input; 0: its own */
    struct sched_example *example; /* instead of a program: warps on the smallest machine */
    struct cli_settings *best_of;  /* alternatives, the fastest of which counts */
    unsigned n_best_of;
};

struct cli_point {
    const char *name;
    struct cli_settings settings;
};

enum cli_mean_kind { CLI_MEAN_GEOMETRIC, CLI_MEAN_HARMONIC, CLI_MEAN_ARITHMETIC };
extern const char *const cli_mean_names[3];

struct cli_mean {
    const char *name;
    enum cli_mean_kind kind;
    unsigned *member, n_members; /* points of its axis */
};

struct cli_axis {
    const char *name;
    struct cli_point *point;
    unsigned n_points;
    struct cli_mean *mean;
    unsigned n_means;
};

/* A cell: for each axis a point, or n_points + i for its mean i. */
struct cli_cell {
    unsigned at[CLI_MOST_AXES];
};

/* Some points and means of every axis: all cells of their product. */
struct cli_cells {
    unsigned *at[CLI_MOST_AXES], n[CLI_MOST_AXES];
};

struct cli_expression;

struct cli_measure_row {
    const char *name;  /* a word, for claims */
    const char *title; /* for people */
    const char *text;  /* the expression as it is written */
    struct cli_expression *expression;
    bool has_base;           /* `base.` is the run at these points of some axes */
    int base[CLI_MOST_AXES]; /* -1: the cell's own */
    unsigned places;         /* decimal places */
};

/* A number that a paper prints. */
struct cli_number {
    unsigned measure;
    struct cli_cell cell;
    double value;
    const char *where, *note; /* NULL: none */
};

/* Runs that show why a claim does not hold: the experiment under other settings, and what its measures must then be. */
struct cli_shown {
    struct cli_settings with;          /* on top of the experiment's; as written, for people */
    struct cli_experiment *experiment; /* the same one with these settings, and with measures of its own */
    const char *text;                  /* the check as it is written */
    struct cli_expression *check;
};

struct cli_claim {
    const char *says; /* in one sentence */
    const char *text; /* the check as it is written */
    struct cli_expression *check;
    const char *test;   /* the size at which a test expects it to hold; NULL: it is not tested */
    const char *reason; /* why it does not hold, as far as known; NULL: open */
    struct cli_shown *shown;
    unsigned n_shown; /* 0: nothing shows the reason, and the claim is open */
};

enum cli_figure_kind { CLI_FIGURE_BARS, CLI_FIGURE_LINES, CLI_FIGURE_STACKED, CLI_FIGURE_SERIES, CLI_FIGURE_THREADS };
extern const char *const cli_figure_names[5];

struct cli_figure {
    enum cli_figure_kind kind;
    int x, group; /* axes; -1: none */
    unsigned measure[CLI_MOST_MEASURES_OF_EXPERIMENT],
        n_measures;     /* bars and lines: one panel each; stacked: its parts */
    const char *series; /* of what; NULL unless it is a time series or a picture of threads */
};

struct cli_experiment {
    const char *name;   /* the file's name */
    const char *source; /* the paper, figure and section */
    const char *title;  /* what it shows, one line */
    const char *result; /* what the paper found, one line; NULL: not stated */
    const char **ours;  /* what the paper leaves open, and our choices */
    unsigned n_ours;
    struct cli_settings common;
    struct cli_axis axis[CLI_MOST_AXES];
    unsigned n_axes;
    struct cli_settings *variation; /* the same runs with other seeds and so on; at least one, which changes nothing */
    unsigned n_variations;
    struct cli_measure_row *measure;
    unsigned n_measures;
    struct cli_number *number;
    unsigned n_numbers;
    struct cli_claim *claim;
    unsigned n_claims;
    struct cli_figure figure;
    const char *largest_size; /* the largest that it runs at; NULL: any */
    const char *largest_why;  /* why it runs at no larger one */
    bool may_refuse;          /* a combination that a model refuses leaves its cell empty */
};

/* load.c: reads a file. Returns false with the error, its line and column in diag. */
bool cli_load_experiment(struct cli_experiment *experiment, const char *path, struct base_arena *arena,
                         struct base_diag *diag);

/* settings.c: adds the settings of `more`, which win. */
void cli_add_settings(struct cli_settings *to, const struct cli_settings *more, struct base_arena *arena);
/* Appends words after a space; more may be NULL. */
void cli_append_words(const char **to, const char *more, struct base_arena *arena);
/* The settings in one line, such as "l2.latency=300, dws:lazy"; "" if there are none. */
const char *cli_settings_text(const struct cli_settings *settings, struct base_arena *arena);

/* The name of a point or mean. */
const char *cli_point_name(const struct cli_axis *axis, unsigned at);
/* The names of a cell's points, separated by commas. */
const char *cli_cell_name(const struct cli_experiment *experiment, const struct cli_cell *cell,
                          struct base_arena *arena);
/* -1: none. */
int cli_find_axis(const struct cli_experiment *experiment, const char *name);
int cli_find_point(const struct cli_axis *axis, const char *name); /* includes means */
int cli_find_measure(const struct cli_experiment *experiment, const char *name);
/* Cells without means are numbered from 0, the last axis fastest. */
unsigned cli_count_cells(const struct cli_experiment *experiment);
struct cli_cell cli_cell_of_number(const struct cli_experiment *experiment, unsigned number);
unsigned cli_number_of_cell(const struct cli_experiment *experiment, const struct cli_cell *cell);
bool cli_is_mean(const struct cli_experiment *experiment, const struct cli_cell *cell);
/* The size that it runs at where the command asks for `size`. */
const char *cli_size_at(const struct cli_experiment *experiment, const char *size);
/* Returns true if it runs a workload whose size can be chosen. */
bool cli_has_sizes(const struct cli_experiment *experiment);

/* ---- The bundled experiments ------------------------------------------------------------------------------------- */

struct cli_experiments {
    struct cli_experiment *item;
    unsigned count;
};
/* Loads all experiments of Heddle's folder, sorted by name, numbers by value. Returns CLI_DONE, or the exit status
 * after a message. */
int cli_load_experiments(struct cli_experiments *experiments, struct base_arena *arena);
/* Their names alone, without reading the files. */
const char **cli_experiment_names(struct base_arena *arena, unsigned *count);
const struct cli_experiment *cli_find_experiment(const struct cli_experiments *experiments, const char *name);
