/* `heddle paper` and `heddle sweep`: run experiments, show and write their results. */
#pragma once

#include "experiment/experiment.h"
#include "program/execute.h"
#include "program/html.h"

struct experiment_session_options {
    unsigned size; /* or PROGRAM_SIZE_NOT_GIVEN */
    uint64_t threads;
    double time_limit_seconds; /* 0: none */
    bool is_quiet, is_forced, is_estimated, is_check, is_reasons, is_noise, is_slurm, is_status;
    unsigned color;
    const char *json, *csv, *plot, *report, *html, *store, *sbatch, *slurm_task;
    struct command_words again; /* the words after `heddle` that choose the same experiments */
};

/* Rows of a table of options; `at` is the offset of a struct experiment_session_options in the command's struct. */
#define EXPERIMENT_SESSION_FIELD(at, name) ((at) + offsetof(struct experiment_session_options, name))
#define EXPERIMENT_SESSION_ROWS(at)                                                                                    \
    {"--size",                                                                                                         \
     0,                                                                                                                \
     COMMAND_CHOICE,                                                                                                   \
     "small|medium|paper",                                                                                             \
     "input of the workloads that are run, default medium",                                                            \
     EXPERIMENT_SESSION_FIELD(at, size),                                                                               \
     0,                                                                                                                \
     0},                                                                                                               \
        PROGRAM_THREADS_ROW(EXPERIMENT_SESSION_FIELD(at, threads)), {"--json",                                         \
                                                                     0,                                                \
                                                                     COMMAND_TEXT,                                     \
                                                                     "FILE|-",                                         \
                                                                     "write values and claims as a JSON array",        \
                                                                     EXPERIMENT_SESSION_FIELD(at, json),               \
                                                                     0,                                                \
                                                                     0},                                               \
        {"--csv",                                                                                                      \
         0,                                                                                                            \
         COMMAND_TEXT,                                                                                                 \
         "FILE|-",                                                                                                     \
         "write the values as CSV, a line for each",                                                                   \
         EXPERIMENT_SESSION_FIELD(at, csv),                                                                            \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--plot",                                                                                                     \
         0,                                                                                                            \
         COMMAND_TEXT,                                                                                                 \
         "FILE.svg|FOLDER",                                                                                            \
         "draw the figure; several go to a folder",                                                                    \
         EXPERIMENT_SESSION_FIELD(at, plot),                                                                           \
         0,                                                                                                            \
         0},                                                                                                           \
        PROGRAM_HTML_ROW(EXPERIMENT_SESSION_FIELD(at, html)), {"--report",                                             \
                                                               0,                                                      \
                                                               COMMAND_TEXT,                                           \
                                                               "FILE.md",                                              \
                                                               "write all results as a page in Markdown",              \
                                                               EXPERIMENT_SESSION_FIELD(at, report),                   \
                                                               0,                                                      \
                                                               0},                                                     \
        {"--store",                                                                                                    \
         0,                                                                                                            \
         COMMAND_TEXT,                                                                                                 \
         "FILE",                                                                                                       \
         "where results are kept, default $HEDDLE_STORE or ~/.local/share/heddle/results.db",                          \
         EXPERIMENT_SESSION_FIELD(at, store),                                                                          \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--time-limit",                                                                                               \
         0,                                                                                                            \
         COMMAND_SECONDS,                                                                                              \
         "S",                                                                                                          \
         "stop after S seconds and report the results so far; the same command continues",                             \
         EXPERIMENT_SESSION_FIELD(at, time_limit_seconds),                                                             \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--estimate",                                                                                                 \
         0,                                                                                                            \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "estimate runs from a sample of their launches",                                                              \
         EXPERIMENT_SESSION_FIELD(at, is_estimated),                                                                   \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--force", 0, COMMAND_FLAG, NULL, "repeat runs that the store has", EXPERIMENT_SESSION_FIELD(at, is_forced),  \
         0,         0},                                                                                                \
        {"--check",                                                                                                    \
         0,                                                                                                            \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "run what claims with a 'test' need, and fail where one does not hold",                                       \
         EXPERIMENT_SESSION_FIELD(at, is_check),                                                                       \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--reasons",                                                                                                  \
         0,                                                                                                            \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "repeat the runs that show why claims do not hold, and say which still do",                                   \
         EXPERIMENT_SESSION_FIELD(at, is_reasons),                                                                     \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--noise",                                                                                                    \
         0,                                                                                                            \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "judge claims in neighbours too: other latencies of the L1, other seeds",                                     \
         EXPERIMENT_SESSION_FIELD(at, is_noise),                                                                       \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--slurm",                                                                                                    \
         0,                                                                                                            \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "submit the missing runs as an array job of Slurm",                                                           \
         EXPERIMENT_SESSION_FIELD(at, is_slurm),                                                                       \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--status",                                                                                                   \
         0,                                                                                                            \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "with --slurm: how many runs are done, running, waiting, failed",                                             \
         EXPERIMENT_SESSION_FIELD(at, is_status),                                                                      \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--sbatch",                                                                                                   \
         0,                                                                                                            \
         COMMAND_TEXT,                                                                                                 \
         "OPTIONS",                                                                                                    \
         "with --slurm: options for sbatch, as one word",                                                              \
         EXPERIMENT_SESSION_FIELD(at, sbatch),                                                                         \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--slurm-task",                                                                                               \
         0,                                                                                                            \
         COMMAND_TEXT,                                                                                                 \
         "FILE",                                                                                                       \
         "what a task of that job runs: its line of FILE",                                                             \
         EXPERIMENT_SESSION_FIELD(at, slurm_task),                                                                     \
         0,                                                                                                            \
         0},                                                                                                           \
        {"--quiet",                                                                                                    \
         'q',                                                                                                          \
         COMMAND_FLAG,                                                                                                 \
         NULL,                                                                                                         \
         "no table and no progress: only errors",                                                                      \
         EXPERIMENT_SESSION_FIELD(at, is_quiet),                                                                       \
         0,                                                                                                            \
         0},                                                                                                           \
        COMMAND_COLOR_ROW(EXPERIMENT_SESSION_FIELD(at, color))

/* Fills in options->again: the command, its words, and the size. */
void experiment_note_words(struct experiment_session_options *options, const char *command,
                           const struct command_words *words, struct base_arena *arena);
/* Returns the exit status. */
int experiment_run_session(const struct experiment_session_options *options, const struct experiment *const *experiment,
                           unsigned count, struct base_arena *arena);
