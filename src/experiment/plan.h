/* The runs that experiments need, each once, however many of their cells show it. */
#pragma once

#include <sys/stat.h>

#include <jansson.h>

#include "experiment/experiment.h"
#include "experiment/store.h"
#include "program/execute.h"

/* One run, or one example. */
struct experiment_trial {
    struct experiment_settings settings; /* all settings, combined */
    struct program program;
    struct command_words arguments;
    struct program_target target;
    struct experiment_stored_run stored; /* its key in the store */
    uint64_t hash;                       /* of the key */
    const char *refusal;                 /* why it cannot run; NULL: it can */
    json_t *result;                      /* NULL: none (yet) */
    const char *failure;                 /* why there is no result; NULL: it has not been run */
};

struct experiment_plan {
    struct program_place place;
    const char *size; /* for experiments that name none */
    struct experiment_trial **trial;
    unsigned n_trials, room;
    unsigned *bucket, n_buckets;   /* trials by hash: index + 1; 0: none */
    const char *library, *version; /* of the simulator: its file and that file's hash */
    struct stat built;             /* when it was hashed */
    struct base_arena *arena;
};

/* The cells of an experiment and their runs. */
struct experiment_grid {
    const struct experiment *experiment;
    struct experiment_plan *plan;
    unsigned most_best_of;               /* alternatives of a cell */
    const struct experiment_grid *noise; /* its neighbours, for claims; its own noise is the next best; NULL: none */
    int *trial;                          /* [cell][variation][alternative]; -1: not needed */
};

/* Returns COMMAND_DONE, or the exit status after one line. */
int experiment_plan_start(struct experiment_plan *plan, const char *size, struct base_arena *arena);
void experiment_plan_end(struct experiment_plan *plan);
/* Adds the runs of an experiment: of the cells with is_needed[number], or of all if it is NULL. */
int experiment_plan_add(struct experiment_plan *plan, struct experiment_grid *grid, const struct experiment *experiment,
                        const bool *is_needed);
/* The run of a cell; of alternatives the fastest. NULL: none. */
const struct experiment_trial *experiment_grid_trial(const struct experiment_grid *grid,
                                                     const struct experiment_cell *cell, unsigned variation);

struct experiment_plan_options {
    unsigned at_once; /* 0: one for each processor */
    bool is_quiet;
    double time_limit_seconds; /* 0: none */
    bool is_forced;            /* repeat runs that are in the store too */
    const char *folder;        /* results go there as files (run_file.h), and no store is used; NULL: into the store */
};
/* Takes results from the store, unless is_forced, and computes the examples. */
int experiment_find_results(struct experiment_plan *plan, struct experiment_store *store, bool is_forced);
/* run.c: takes results from the store and runs the rest, several at a time, storing each as it ends. Returns
 * COMMAND_DONE if all have results, otherwise the exit status, after a line for each failure. */
int experiment_run_plan(struct experiment_plan *plan, struct experiment_store *store,
                        const struct experiment_plan_options *options);
