/* `heddle paper` and `heddle sweep`: run experiments, show and write their results. */
#pragma once

#include "cli/experiments/experiment.h"
#include "cli/html.h"
#include "cli/program/execute.h"

struct cli_session_options {
    unsigned size; /* or CLI_SIZE_NOT_GIVEN */
    uint64_t threads;
    double time_limit_seconds; /* 0: none */
    bool is_quiet, is_forced, is_check, is_reasons, is_noise, is_slurm, is_status;
    unsigned color;
    const char *json, *csv, *plot, *report, *html, *store, *sbatch, *slurm_task;
    struct cli_words again; /* the words after `heddle` that choose the same experiments */
};

/* Rows of a table of options; `at` is the offset of a struct cli_session_options in the command's struct. */
#define CLI_SESSION_FIELD(at, name) ((at) + offsetof(struct cli_session_options, name))
#define CLI_SESSION_ROWS(at)                                                                                            \
    {"--size",                                                                                                          \
     0,                                                                                                                 \
     CLI_CHOICE,                                                                                                        \
     "small|medium|paper",                                                                                              \
     "input of the workloads that are run, default medium",                                                             \
     CLI_SESSION_FIELD(at, size),                                                                                       \
     0,                                                                                                                 \
     0},                                                                                                                \
        CLI_THREADS_ROW(CLI_SESSION_FIELD(at, threads)), {"--json",                                                     \
                                                          0,                                                            \
                                                          CLI_TEXT,                                                     \
                                                          "FILE|-",                                                     \
                                                          "write values and claims as a JSON array",                    \
                                                          CLI_SESSION_FIELD(at, json),                                  \
                                                          0,                                                            \
                                                          0},                                                           \
        {"--csv", 0, CLI_TEXT, "FILE|-", "write the values as CSV, a line for each", CLI_SESSION_FIELD(at, csv), 0, 0}, \
        {"--plot",                                                                                                      \
         0,                                                                                                             \
         CLI_TEXT,                                                                                                      \
         "FILE.svg|FOLDER",                                                                                             \
         "draw the figure; several go to a folder",                                                                     \
         CLI_SESSION_FIELD(at, plot),                                                                                   \
         0,                                                                                                             \
         0},                                                                                                            \
        CLI_HTML_ROW(CLI_SESSION_FIELD(at, html)),                                                                      \
        {"--report", 0, CLI_TEXT, "FILE.md", "write all results as a page in Markdown", CLI_SESSION_FIELD(at, report),  \
         0,          0},                                                                                                \
        {"--store",                                                                                                     \
         0,                                                                                                             \
         CLI_TEXT,                                                                                                      \
         "FILE",                                                                                                        \
         "where results are kept, default $HEDDLE_STORE or ~/.local/share/heddle/results.db",                           \
         CLI_SESSION_FIELD(at, store),                                                                                  \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--time-limit",                                                                                                \
         0,                                                                                                             \
         CLI_SECONDS,                                                                                                   \
         "S",                                                                                                           \
         "stop after S seconds and report what there is; the same command goes on from there",                          \
         CLI_SESSION_FIELD(at, time_limit_seconds),                                                                     \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--force", 0, CLI_FLAG, NULL, "repeat runs that the store has", CLI_SESSION_FIELD(at, is_forced), 0, 0},       \
        {"--check",                                                                                                     \
         0,                                                                                                             \
         CLI_FLAG,                                                                                                      \
         NULL,                                                                                                          \
         "run what claims with a 'test' need, and fail where one does not hold",                                        \
         CLI_SESSION_FIELD(at, is_check),                                                                               \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--reasons",                                                                                                   \
         0,                                                                                                             \
         CLI_FLAG,                                                                                                      \
         NULL,                                                                                                          \
         "repeat the runs that show why claims do not hold, and say which still do",                                    \
         CLI_SESSION_FIELD(at, is_reasons),                                                                             \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--noise",                                                                                                     \
         0,                                                                                                             \
         CLI_FLAG,                                                                                                      \
         NULL,                                                                                                          \
         "judge claims in neighbours too: other latencies of the L1, other seeds",                                      \
         CLI_SESSION_FIELD(at, is_noise),                                                                               \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--slurm",                                                                                                     \
         0,                                                                                                             \
         CLI_FLAG,                                                                                                      \
         NULL,                                                                                                          \
         "submit the missing runs as an array job of Slurm",                                                            \
         CLI_SESSION_FIELD(at, is_slurm),                                                                               \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--status",                                                                                                    \
         0,                                                                                                             \
         CLI_FLAG,                                                                                                      \
         NULL,                                                                                                          \
         "with --slurm: how many runs are done, running, waiting, failed",                                              \
         CLI_SESSION_FIELD(at, is_status),                                                                              \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--sbatch",                                                                                                    \
         0,                                                                                                             \
         CLI_TEXT,                                                                                                      \
         "OPTIONS",                                                                                                     \
         "with --slurm: options for sbatch, as one word",                                                               \
         CLI_SESSION_FIELD(at, sbatch),                                                                                 \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--slurm-task",                                                                                                \
         0,                                                                                                             \
         CLI_TEXT,                                                                                                      \
         "FILE",                                                                                                        \
         "what a task of that job runs: its line of FILE",                                                              \
         CLI_SESSION_FIELD(at, slurm_task),                                                                             \
         0,                                                                                                             \
         0},                                                                                                            \
        {"--quiet", 'q', CLI_FLAG, NULL, "no table and no progress: only errors", CLI_SESSION_FIELD(at, is_quiet),      \
         0,         0},                                                                                                 \
        CLI_COLOR_ROW(CLI_SESSION_FIELD(at, color))

/* Fills in options->again: the command, its words, and the size. */
void cli_note_words(struct cli_session_options *options, const char *command, const struct cli_words *words,
                    struct base_arena *arena);
/* Returns the exit status. */
int cli_run_session(const struct cli_session_options *options, const struct cli_experiment *const *experiment,
                    unsigned count, struct base_arena *arena);
