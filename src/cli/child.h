/* A program that runs as a process of its own on Heddle's driver. */
#pragma once

#include <stdbool.h>

enum cli_output { CLI_OUTPUT_AS_IS, CLI_OUTPUT_TO_STDERR, CLI_OUTPUT_DROPPED };

struct cli_child {
    const char *path;        /* the executable */
    const char *const *argv; /* ends with NULL */
    const char *cuda;        /* the folder that leads LD_LIBRARY_PATH */
    const char *config;      /* HEDDLE_CONFIG */
    const char *results;     /* HEDDLE_RESULTS */
    double timeout_seconds;  /* 0: none */
    enum cli_output output;  /* where its standard output goes */
};

struct cli_end {
    int start_error;   /* errno of an exec that failed; 0: it started */
    int wait_status;   /* as waitpid gives it */
    int interrupt;     /* the signal that this process got meanwhile; 0: none */
    bool is_timed_out; /* it had to be ended from outside */
};

/* Starts the program, waits for its end, and passes SIGINT, SIGTERM and SIGHUP on to it. */
struct cli_end cli_child_run(const struct cli_child *child);
