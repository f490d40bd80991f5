/* Recordings of a real GPU: a CSV file with a line for each launch (bench/hardware/record.sh). */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

/* Rows of metrics.def. */
#define CLI_METRIC(word, unit, real, per, simulated) +1
enum {
    CLI_N_METRICS = 0
#include "cli/validate/metrics.def"
};

/* A workload at a size, or a kernel of bench/hardware/kernels. */
struct cli_recorded {
    const char *workload, *size;
    bool is_kernel;      /* its size is "-" */
    unsigned n_launches; /* the first ones of the program */
    double cycles;       /* of them all */
    double instructions; /* machine instructions of warps, of them all; 0: not recorded */
    struct {
        double sum, per; /* of the launches; NaN: not recorded; per is 1 unless the metric has a divisor */
    } metric[CLI_N_METRICS];
};

struct cli_recording {
    struct cli_recorded *item; /* in the order of the file */
    unsigned count;
};

/* Adds to the recording, which starts as zeros. Returns COMMAND_DONE, or COMMAND_ERROR after one line on standard
 * error. */
int cli_read_recording(const char *path, struct cli_recording *recording, struct base_arena *arena);
