/* Programs that run as processes on Heddle's driver. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum program_output { PROGRAM_OUTPUT_AS_IS, PROGRAM_OUTPUT_TO_STDERR, PROGRAM_OUTPUT_DROPPED };

struct program_child {
    const char *path;           /* the executable */
    const char *const *argv;    /* ends with NULL */
    const char *cuda;           /* this folder goes first in LD_LIBRARY_PATH */
    const char *preload;        /* this library goes first in LD_PRELOAD; NULL: none */
    const char *config;         /* HEDDLE_CONFIG */
    const char *results;        /* HEDDLE_RESULTS */
    const char *errors;         /* the file for its standard error; NULL: this process's own */
    double timeout_seconds;     /* 0: none */
    enum program_output output; /* where its standard output goes */
    /* Others run at the same time. It has its own process group, which is ended as a whole and leaves no process. It
     * also has its own standard input, so that its input does not depend on the others: this process's, from its
     * current position, if that is a file; otherwise an empty one. */
    bool is_apart;
    bool has_fixed_addresses; /* its memory lies at the same addresses in every run */
};

struct program_end {
    int start_error;     /* errno of an exec that failed; 0: it started */
    int wait_status;     /* from waitpid */
    int interrupt;       /* the signal that this process received meanwhile; 0: none */
    bool is_timed_out;   /* it was ended at the time limit */
    bool is_killed;      /* it was asked to end, but did not */
    uint64_t peak_bytes; /* its peak memory */
    double cpu_seconds;  /* of the program and its own children */
};

/* Several programs, at most `at_once` at a time, started in order. */
struct program_children {
    unsigned count, at_once;
    void *context;
    /* Fills in program i. Returns false if there is nothing to start. */
    bool (*start)(void *context, unsigned i, struct program_child *child);
    void (*end)(void *context, unsigned i, const struct program_end *end);
    void (*wait)(void *context); /* called about five times a second; may be NULL */
    double time_limit_seconds;   /* for all of them together; 0: none */
};

/* Starts the programs, waits for their ends, and passes SIGINT, SIGTERM and SIGHUP on to them. After such a signal it
 * starts no other program, and after five seconds it kills those that have not ended. The end of the time limit acts
 * like SIGTERM, but is reported as SIGALRM. The programs stop with this process at SIGTSTP. Returns the signal, or
 * 0. */
int program_children_run(const struct program_children *children);

/* Returns the seconds of a monotonic clock. */
double program_now_seconds(void);
