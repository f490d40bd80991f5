/* Running programs on Heddle: every command that does goes this way. */
#pragma once

#include "cli/options/options.h"
#include "cli/program/child.h"
#include "cli/program/place.h"
#include "cli/program/target.h"
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
    uint64_t n_threads;              /* of the host, in this run; 0: one */
    bool records_threads;            /* counts per thread and branch */
    bool shows_progress, is_verbose;
    const char *timed_kernels;                      /* a regular expression; NULL: all */
    uint64_t first_timed_launch, last_timed_launch; /* numbers from 1; 0: no bound */
    bool keeps_going;                               /* a program that got errors of CUDA and ends well is done */
    bool keeps_errors; /* its standard error is not shown, but the first line of it is in the run's error */
    bool is_apart;     /* as a child's, child.h */
    enum cli_output output;
};

/* Runs it to its end and reads what the driver measured into `run`, whose error and stopped say what went wrong. Gives
 * the exit status. `is_said` comes back true when the program itself has told the user what is wrong. */
int cli_execute(const struct cli_execution *execution, struct report_run *run, struct base_arena *arena, bool *is_said);

/* Those that this process may use. */
unsigned cli_count_processors(void);

/* One of several. */
struct cli_job {
    struct cli_execution execution;
    struct report_run run; /* program, size and target are filled in before, the rest when it ends */
    bool has_ended;        /* false: an interrupt came before */
    int status;            /* as cli_execute gives it, once it has ended */
    double cpu_seconds;    /* that it used, once it has ended */
    bool is_said;
    double started, seconds; /* by cli_now_seconds(), 0: not yet; how long it took, once it has ended */
    const char *folder;      /* private */
};

struct cli_jobs {
    struct cli_job *job;
    unsigned count, at_once;                                      /* 0: one for each processor, which is filled in */
    void (*progress)(void *context, const struct cli_jobs *jobs); /* now and then while they run; NULL: never */
    void *context;
    /* A run is about to start; false: it need not, and counts as ended. NULL: all must. */
    bool (*is_needed)(void *keeper, struct cli_job *job);
    /* A run has ended and `job` is complete; false: start no other. NULL: go on. */
    bool (*ended)(void *keeper, struct cli_job *job);
    void *keeper;
    bool is_cancelled; /* by `ended` */
    struct base_arena *arena;
    unsigned n_ended;
    int interrupt;      /* the signal that kept them from all running to their ends; 0: none */
    const char *folder; /* private */
};

/* Runs all of them. CLI_DONE, however they ended, or CLI_ERROR after one line, when none could be started. */
int cli_execute_all(struct cli_jobs *jobs);
/* It ran, and not only until an interrupt came. */
bool cli_is_finished(const struct cli_job *job);
/* CLI_STOPPED, after one line about the signal and how many of the runs are finished. */
int cli_report_interrupt(const struct cli_jobs *jobs);

/* A row of a table of options, for commands with several runs; `at` is the offset of a uint64_t in the command's
 * struct, 0 when it is not given. */
enum { CLI_MOST_THREADS = 1024 };
#define CLI_THREADS_ROW(at)                                                                                            \
    {                                                                                                                  \
        "--threads", 'j', CLI_NUMBER, "N", "runs at the same time, default one for each processor", (at), 1,           \
            CLI_MOST_THREADS                                                                                           \
    }
