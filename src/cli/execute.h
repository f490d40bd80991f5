/* Running programs on Heddle: every command that does goes this way. */
#pragma once

#include "cli/child.h"
#include "cli/options.h"
#include "cli/place.h"
#include "cli/target.h"
#include "report/report.h"

enum cli_program_kind {
    CLI_PROGRAM_WORKLOAD,   /* bundled */
    CLI_PROGRAM_EXECUTABLE, /* the user's */
    CLI_PROGRAM_PTX,        /* a kernel, run by heddle-ptx-run */
};

struct cli_program {
    enum cli_program_kind kind;
    const char *name;       /* as the user gave it */
    const char *executable; /* what is started */
};

/* What PROGRAM means; false, with one line on standard error, when it is nothing that can be run. */
bool cli_find_program(struct cli_program *program, const char *name, const struct cli_place *place,
                      struct base_arena *arena, int *status);

struct cli_execution {
    struct cli_program program;
    const struct cli_place *place;
    struct cli_words arguments;      /* of the program, without its name */
    const struct cli_target *target; /* what it is timed on; NULL: it is executed without timing */
    double timeout_seconds;          /* 0: none */
    uint64_t max_instructions;       /* 0: the driver's own limit */
    uint64_t sample_cycles;          /* 0: no time series */
    bool records_threads;            /* counts per thread and branch */
    bool shows_progress, is_verbose;
    bool keeps_errors; /* its standard error is not shown, but the first line of it is in the run's error */
    enum cli_output output;
};

/* Runs it to its end and reads what the driver measured into `run`, whose error and stopped say what went wrong. Gives
 * the exit status. `is_said` comes back true when the program itself has told the user what is wrong. */
int cli_execute(const struct cli_execution *execution, struct report_run *run, struct base_arena *arena, bool *is_said);

/* One of several. */
struct cli_job {
    struct cli_execution execution;
    struct report_run run; /* program, size and target are filled in before, the rest when it ends */
    bool has_ended;        /* false: an interrupt came before */
    int status;            /* as cli_execute gives it, once it has ended */
    bool is_said;
    const char *folder; /* private */
};

struct cli_jobs {
    struct cli_job *job;
    unsigned count, at_once;                                      /* 0: one for each core */
    void (*progress)(void *context, const struct cli_jobs *jobs); /* now and then while they run; NULL: never */
    void *context;
    struct base_arena *arena;
    unsigned n_ended;
};

/* Runs all of them; the signal that kept it from doing so, or 0. */
int cli_execute_all(struct cli_jobs *jobs);
/* The same with a line on standard error meanwhile, if that is a terminal and `is_quiet` does not forbid it. */
int cli_execute_with_progress(struct cli_jobs *jobs, bool is_quiet);
/* It ran, and not only until an interrupt came. */
bool cli_is_finished(const struct cli_job *job);
