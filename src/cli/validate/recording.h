/* Recordings of a real GPU: a CSV file with a line for each launch (bench/hardware/record.sh). */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

/* Rows of metrics.def. */
#define CLI_METRIC(word, unit, real, per, weight, simulated) +1
enum {
    CLI_N_METRICS = 0
#include "cli/validate/metrics.def"
};

#define CLI_OWN "own" /* the size of programs of the user's */

/* A workload at a size, a kernel of bench/hardware/kernels, or a kernel of a program of the user's. */
struct cli_recorded {
    const char *workload, *size; /* of a program of the user's: its name, and "own" */
    const char *kernel;          /* of a program of the user's; otherwise NULL */
    bool is_kernel;              /* its size is "-" */
    unsigned n_launches;
    unsigned *launch;    /* their numbers in the program, from 0: the first ones, unless only those of `kernel` count */
    double cycles;       /* of them all */
    double instructions; /* machine instructions of warps, of them all; 0: not recorded */
    struct {
        double sum, per; /* of the launches; NaN: not recorded; per is 1 unless the metric has a divisor */
    } metric[CLI_N_METRICS];
    /* While a second recording is read: its launches, and the metrics that come from there. */
    unsigned n_more;
    bool is_from_second[CLI_N_METRICS];
};

struct cli_recording {
    struct cli_recorded *item; /* in the order of the file */
    unsigned count;
};

/* Adds to the recording, which starts as zeros. Returns COMMAND_DONE, or COMMAND_ERROR after one line on standard
 * error. */
int cli_read_recording(const char *path, struct cli_recording *recording, struct base_arena *arena);

/* Adds the metrics that the recording lacks from another one of the same programs, as far as that has the same
 * launches. Other lines of the file are ignored. */
int cli_read_more_metrics(const char *path, struct cli_recording *recording);
