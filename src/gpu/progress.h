/* The progress line of a long launch, on standard error of a terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct gpu_progress {
    uint64_t start_ns, shown_ns;
    bool has_shown;
};

void gpu_progress_start(struct gpu_progress *progress);
/* Shows the line if the launch has run for a while and the last line is old enough. `n_done` of `unit` have been done
 * so far. */
void gpu_progress_show(struct gpu_progress *progress, const char *kernel, uint64_t n_done, uint64_t n_blocks,
                       double amount, const char *unit);
/* Clears the line. */
void gpu_progress_end(struct gpu_progress *progress);
