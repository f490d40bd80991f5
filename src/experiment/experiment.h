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
#include "command/options.h"
#include "sched/example.h"

enum {
    EXPERIMENT_MOST_AXES = 4,
    EXPERIMENT_MOST_POINTS = 512, /* of an axis, including its means */
    EXPERIMENT_MOST_MEASURES = 16,
};

/* The settings of a run. A key that is not given is NULL or 0 and keeps the other settings' value; arguments and
 * changes of the machine add up. */
struct experiment_settings {
    const char *program, *arguments; /* arguments: separated by spaces */
    const char *medium_arguments;    /* more of them, at size medium alone */
    const char *size;                /* "small", "medium" or "paper"; NULL: the command's */
    const char *machine, *scheduler, *divergence;
    struct command_words set;            /* KEY=VALUE each */
    uint64_t sample_cycles;              /* 0: no time series */
    bool records_threads;                /* counts for each thread and branch */
    bool is_estimated;                   /* from a sample of the launches, unless it records more than counters */
    unsigned neighbour;                  /* 1 to 4: the machine's neighbour (noise.h); 0: the machine itself */
    unsigned seed;                       /* of a workload's input; 0: its own */
    struct sched_example *example;       /* instead of a program: warps on the smallest machine */
    struct experiment_settings *best_of; /* alternatives, the fastest of which counts */
    unsigned n_best_of;
};

struct experiment_point {
    const char *name;
    struct experiment_settings settings;
};

enum experiment_mean_kind { EXPERIMENT_MEAN_GEOMETRIC, EXPERIMENT_MEAN_HARMONIC, EXPERIMENT_MEAN_ARITHMETIC };
extern const char *const experiment_mean_names[3];

struct experiment_mean {
    const char *name;
    enum experiment_mean_kind kind;
    unsigned *member, n_members; /* points of its axis */
};

struct experiment_axis {
    const char *name;
    struct experiment_point *point;
    unsigned n_points;
    struct experiment_mean *mean;
    unsigned n_means;
};

/* A cell: for each axis a point, or n_points + i for its mean i. */
struct experiment_cell {
    unsigned at[EXPERIMENT_MOST_AXES];
};

/* Some points and means of every axis: all cells of their product. */
struct experiment_cells {
    unsigned *at[EXPERIMENT_MOST_AXES], n[EXPERIMENT_MOST_AXES];
};

struct experiment_expression;

struct experiment_measure_row {
    const char *name;  /* a word, for claims */
    const char *title; /* for people */
    const char *text;  /* the expression as it is written */
    struct experiment_expression *expression;
    bool has_base;                  /* `base.` is the run at these points of some axes */
    int base[EXPERIMENT_MOST_AXES]; /* -1: the cell's own */
    unsigned places;                /* decimal places */
};

/* A number that a paper prints. */
struct experiment_number {
    unsigned measure;
    struct experiment_cell cell;
    double value;
    const char *where, *note; /* NULL: none */
};

/* Runs that show why a claim does not hold: the experiment under other settings, and the values that its measures must
 * then have. */
struct experiment_shown {
    struct experiment_settings with; /* on top of the experiment's; as written, for people */
    struct experiment *experiment;   /* the same one with these settings, and with measures of its own */
    const char *text;                /* the check as it is written */
    struct experiment_expression *check;
};

struct experiment_claim {
    const char *says; /* in one sentence */
    const char *text; /* the check as it is written */
    struct experiment_expression *check;
    const char *test;   /* the size at which a test expects it to hold; NULL: it is not tested */
    const char *reason; /* why it does not hold, as far as known; NULL: open */
    struct experiment_shown *shown;
    unsigned n_shown; /* 0: nothing shows the reason, and the claim is open */
};

enum experiment_figure_kind {
    EXPERIMENT_FIGURE_BARS,
    EXPERIMENT_FIGURE_LINES,
    EXPERIMENT_FIGURE_STACKED,
    EXPERIMENT_FIGURE_SERIES,
    EXPERIMENT_FIGURE_THREADS
};
extern const char *const experiment_figure_names[5];

struct experiment_figure {
    enum experiment_figure_kind kind;
    int x, group;                                           /* axes; -1: none */
    unsigned measure[EXPERIMENT_MOST_MEASURES], n_measures; /* bars and lines: one panel each; stacked: its parts */
    const char *series; /* of what; NULL unless it is a time series or a picture of threads */
};

struct experiment {
    const char *name;   /* the file's name */
    const char *source; /* the paper, figure and section */
    const char *title;  /* what it shows, one line */
    const char *result; /* what the paper found, one line; NULL: not stated */
    const char **ours;  /* what the paper leaves open, and our choices */
    unsigned n_ours;
    struct experiment_settings common;
    struct experiment_axis axis[EXPERIMENT_MOST_AXES];
    unsigned n_axes;
    struct experiment_settings
        *variation; /* the same runs with other seeds and so on; at least one, which changes nothing */
    unsigned n_variations;
    struct experiment_measure_row *measure;
    unsigned n_measures;
    struct experiment_number *number;
    unsigned n_numbers;
    struct experiment_claim *claim;
    unsigned n_claims;
    struct experiment_figure figure;
    const char *largest_size; /* the largest that it runs at; NULL: any */
    const char *largest_why;  /* why it runs at no larger one */
    bool may_refuse;          /* a combination that a model refuses leaves its cell empty */
};

/* load.c: reads a file. Returns false with the error, its line and column in diag. */
bool experiment_load(struct experiment *experiment, const char *path, struct base_arena *arena, struct base_diag *diag);

/* settings.c: adds the settings of `more`, which win. */
void experiment_add_settings(struct experiment_settings *to, const struct experiment_settings *more,
                             struct base_arena *arena);
/* Appends words after a space; more may be NULL. */
void experiment_append_words(const char **to, const char *more, struct base_arena *arena);
/* The settings in one line, such as "l2.latency=300, dws:lazy"; "" if there are none. */
const char *experiment_settings_text(const struct experiment_settings *settings, struct base_arena *arena);

/* The name of a point or mean. */
const char *experiment_point_name(const struct experiment_axis *axis, unsigned at);
/* The names of a cell's points, separated by commas. */
const char *experiment_cell_name(const struct experiment *experiment, const struct experiment_cell *cell,
                                 struct base_arena *arena);
/* -1: none. */
int experiment_find_axis(const struct experiment *experiment, const char *name);
int experiment_find_point(const struct experiment_axis *axis, const char *name); /* includes means */
int experiment_find_measure(const struct experiment *experiment, const char *name);
/* Cells without means are numbered from 0, the last axis fastest. */
unsigned experiment_count_cells(const struct experiment *experiment);
struct experiment_cell experiment_cell_of_number(const struct experiment *experiment, unsigned number);
unsigned experiment_number_of_cell(const struct experiment *experiment, const struct experiment_cell *cell);
/* Returns the paper's number for a value, or NaN if the paper prints none. */
double experiment_paper_number(const struct experiment *experiment, unsigned measure,
                               const struct experiment_cell *cell);
bool experiment_is_mean(const struct experiment *experiment, const struct experiment_cell *cell);
/* The size that it runs at where the command asks for `size`. */
const char *experiment_size_at(const struct experiment *experiment, const char *size);
/* Returns true if it runs a workload whose size can be chosen. */
bool experiment_has_sizes(const struct experiment *experiment);

/* ---- The bundled experiments ------------------------------------------------------------------------------------- */

struct experiment_set {
    struct experiment *item;
    unsigned count;
};
/* Loads all experiments of Heddle's folder, sorted by name, numbers by value. Returns COMMAND_DONE, or the exit status
 * after a message. */
int experiment_load_all(struct experiment_set *experiments, struct base_arena *arena);
/* Their names alone, without reading the files. */
const char **experiment_names(struct base_arena *arena, unsigned *count);
const struct experiment *experiment_find(const struct experiment_set *experiments, const char *name);
