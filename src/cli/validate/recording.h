/* What was recorded on a real GPU: a CSV file with a line for each launch (tests/hardware/record.sh). */
#pragma once

#include "base/arena.h"

/* A workload at a size. */
struct cli_recorded {
    const char *workload, *size;
    unsigned n_launches; /* the first ones of the program */
    double cycles;       /* of them all */
};

struct cli_recording {
    struct cli_recorded *item; /* in the order of the file */
    unsigned count;
};

/* Returns CLI_DONE, or CLI_ERROR after one line on standard error. */
int cli_read_recording(const char *path, struct cli_recording *recording, struct base_arena *arena);
