/* Programs that run as processes of their own on Heddle's driver. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum cli_output { CLI_OUTPUT_AS_IS, CLI_OUTPUT_TO_STDERR, CLI_OUTPUT_DROPPED };

struct cli_child {
    const char *path;        /* the executable */
    const char *const *argv; /* ends with NULL */
    const char *cuda;        /* the folder that leads LD_LIBRARY_PATH */
    const char *preload;     /* the library that leads LD_PRELOAD; NULL: none */
    const char *config;      /* HEDDLE_CONFIG */
    const char *results;     /* HEDDLE_RESULTS */
    const char *errors;      /* the file that gets its standard error; NULL: this process's own */
    double timeout_seconds;  /* 0: none */
    enum cli_output output;  /* where its standard output goes */
    /* Others run beside it. It has a group of processes of its own, which is ended as a whole and leaves nothing
     * behind. It has its own standard input too, so that what it reads does not depend on the others: this process's
     * from where that stands if it is a file, an empty one otherwise. */
    bool is_apart;
};

struct cli_end {
    int start_error;     /* errno of an exec that failed; 0: it started */
    int wait_status;     /* as waitpid gives it */
    int interrupt;       /* the signal that this process got meanwhile; 0: none */
    bool is_timed_out;   /* it had to be ended from outside */
    uint64_t peak_bytes; /* the most memory it had at once */
    double cpu_seconds;  /* that it and its own children used */
};

/* Several of them, at most `at_once` at a time, started in order. */
struct cli_children {
    unsigned count, at_once;
    void *context;
    /* What number i is; false: there is nothing to start. */
    bool (*start)(void *context, unsigned i, struct cli_child *child);
    void (*end)(void *context, unsigned i, const struct cli_end *end);
    void (*wait)(void *context); /* about five times a second; NULL: nobody wants to know */
};

/* Starts the programs, waits for their ends, and passes SIGINT, SIGTERM and SIGHUP on to them; after one of these no
 * other program is started. Gives that signal, or 0. They rest with this process when SIGTSTP stops it. */
int cli_children_run(const struct cli_children *children);

/* Seconds of a clock that only goes on. */
double cli_now_seconds(void);
