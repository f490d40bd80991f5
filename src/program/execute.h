/* Runs programs on Heddle, for every command that needs it. */
#pragma once

#include <jansson.h>

#include "command/options.h"
#include "program/child.h"
#include "program/place.h"
#include "program/target.h"
#include "report/report.h"

enum program_kind {
    PROGRAM_WORKLOAD,   /* bundled */
    PROGRAM_EXECUTABLE, /* the user's */
    PROGRAM_PTX,        /* a kernel, run by heddle-ptx-run */
};

struct program {
    enum program_kind kind;
    const char *name;       /* as the user gave it */
    const char *executable; /* the executable to start */
};

/* Finds the meaning of PROGRAM. Returns false, with one line on standard error, if it cannot be run. */
bool program_find(struct program *program, const char *name, const struct program_place *place,
                  struct base_arena *arena, int *status);

/* Returns whether options after this name that the command does not know are the program's own: not those of bundled
 * workloads and .ptx files, whose options are known. */
bool program_has_own_options(const char *name);

/* Returns one line that says why a file cannot be started and what to do, or NULL if it seems startable. */
const char *program_why_not_runnable(const char *name, const struct program_place *place, struct base_arena *arena);

struct program_execution {
    struct program program;
    const struct program_place *place;
    struct command_words arguments;      /* of the program, without its name */
    const struct program_target *target; /* the target it is timed on; NULL: it is executed without timing */
    double timeout_seconds;              /* 0: none */
    uint64_t max_instructions;           /* 0: the driver's own limit */
    uint64_t sample_cycles;              /* 0: no time series */
    uint64_t most_samples;               /* if there would be more, intervals double; 0: no limit */
    uint64_t n_threads;                  /* of the host, in this run; 0: one */
    bool picks_threads;                  /* at most n_threads: as many as pay */
    bool records_threads;                /* counts per thread and branch */
    bool records_lines;                  /* counts per line */
    struct program_trace {               /* a timeline, which the driver writes */
        const char *path;                /* absolute; NULL: none */
        uint64_t first_cycle, last_cycle, first_sm, last_sm; /* a last one of UINT64_MAX: no bound */
        uint64_t most_bytes;
    } trace;
    bool is_memchecked;     /* finds accesses outside allocations, uninitialised reads and races */
    const char *checkpoint; /* the absolute path of a file from program_open_checkpoint(); NULL: none */
    const char *live;       /* the file to which the driver writes its state (live.h); NULL: none */
    bool shows_progress, is_verbose;
    const char *timed_kernels;                      /* a regular expression; NULL: all */
    uint64_t first_timed_launch, last_timed_launch; /* numbers from 1; 0: no bound */
    uint32_t draws;    /* of each segment, for an estimate (gpu/draw.h); 0: every launch is timed */
    double draw_error; /* more where they deviate, to know the cycles within this part of them; 0: no more */
    bool keeps_going;  /* a program that saw CUDA errors and exits with 0 counts as done */
    bool keeps_errors; /* its standard error is not shown; the run's error contains its first line */
    bool is_apart;     /* see child.h */
    enum program_output output;
};

/* Returns the driver's configuration for this execution (HEDDLE_CONFIG), for the caller to release. */
json_t *program_driver_config(const struct program_execution *execution);

/* Runs the program to its end and reads the driver's measurements into `run`, whose error and stopped explain a
 * failure. Sets *is_said if the program itself has told the user. Returns the exit status. */
int program_execute(const struct program_execution *execution, struct report_run *run, struct base_arena *arena,
                    bool *is_said);

/* Processors that this process may use. */
unsigned program_count_processors(void);

/* One of several. */
struct program_job {
    struct program_execution execution;
    struct report_run run; /* the caller fills in program, size and target; the rest is set when it ends */
    bool has_ended;        /* false: an interrupt came before */
    int status;            /* see program_execute(); set when it has ended */
    double cpu_seconds;    /* set when it has ended */
    bool is_said;
    bool is_killed;          /* see child.h */
    bool is_explained;       /* run.error is complete: the program's output adds nothing */
    double expected_seconds; /* by the caller, from runs like this one; 0: not known */
    double started, seconds; /* times of program_now_seconds(); started is 0 before the start */
    const char *folder;      /* private */
};

struct program_jobs {
    struct program_job *job;
    unsigned count, at_once; /* 0: one for each processor, which is filled in */
    void (*progress)(void *context, const struct program_jobs *jobs); /* while they run; NULL: never */
    void *context;
    /* Called before a run starts. Returns false if it need not run; it then counts as ended. NULL: all must run. */
    bool (*is_needed)(void *keeper, struct program_job *job);
    /* Called after a run has ended and `job` is complete. Returns false to start no other. NULL: continue. */
    bool (*ended)(void *keeper, struct program_job *job);
    void *keeper;
    double time_limit_seconds; /* for all of them together; 0: none */
    bool is_cancelled;         /* by `ended` */
    struct base_arena *arena;
    unsigned n_ended;
    int interrupt;      /* the signal that stopped them; SIGALRM: the time limit; 0: none */
    const char *folder; /* private */
};

/* Runs all of them. Returns COMMAND_DONE, however they ended, or COMMAND_ERROR after one line if none could be started.
 */
int program_execute_all(struct program_jobs *jobs);
/* Returns whether it ran to its end, without an interrupt. */
bool program_is_finished(const struct program_job *job);
/* Prints one line about the signal or time limit and how many of the runs are finished. Returns COMMAND_STOPPED. */
int program_report_interrupt(const struct program_jobs *jobs);

/* A row of a table of options, for commands with several runs; `at` is the offset of a uint64_t in the command's
 * struct, 0 if the option is not given. */
enum { PROGRAM_MOST_THREADS = 1024 };
#define PROGRAM_THREADS_ROW(at)                                                                                        \
    {                                                                                                                  \
        "--threads", 'j', COMMAND_NUMBER, "N", "runs at the same time, default one for each processor", (at), 1,       \
            PROGRAM_MOST_THREADS                                                                                       \
    }
