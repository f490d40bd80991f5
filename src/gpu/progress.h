/* The progress line of a long launch, on standard error of a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats/stalls.h"

struct gpu_progress {
    uint64_t start_ns, shown_ns;
    bool has_shown;
    /* timed: at the start of the launch */
    uint64_t first_instructions, first_cycles[1 + STATS_N_SM_STALLS];
};

void gpu_progress_start(struct gpu_progress *progress);
/* Shows the line if the launch has run for a while and the last line is old enough. `amount` of `unit` have been done
 * so far. ipc: thread instructions per cycle so far; below 0: none. */
void gpu_progress_show(struct gpu_progress *progress, const char *kernel, uint64_t n_done, uint64_t n_blocks,
                       double amount, const char *unit, double ipc);
/* Clears the line. */
void gpu_progress_end(struct gpu_progress *progress);
