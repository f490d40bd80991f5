/* The progress line. See progress.h. */
#include "gpu/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "gpu/internal.h"

enum { SHOW_AFTER_NS = 2000000000, SHOW_EVERY_NS = 250000000 };

void gpu_progress_start(struct gpu_progress *progress) {
    uint64_t now = gpu_host_clock_ns();
    *progress = (struct gpu_progress){.start_ns = now, .shown_ns = now};
}

void gpu_progress_show(struct gpu_progress *progress, const char *kernel, uint64_t n_done, uint64_t n_blocks,
                       double amount, const char *unit, double ipc) {
    uint64_t now = gpu_host_clock_ns();
    if (now - progress->start_ns < SHOW_AFTER_NS || now - progress->shown_ns < SHOW_EVERY_NS)
        return;
    progress->shown_ns = now;
    progress->has_shown = true;
    double seconds = (double)(now - progress->start_ns) * 1e-9, share = (double)n_done / (double)n_blocks;
    fprintf(stderr, "\r%s: %5.1f %% of %" PRIu64 " blocks, %.1f %s/s", kernel, 100 * share, n_blocks, amount / seconds,
            unit);
    if (ipc >= 0)
        fprintf(stderr, ", IPC %.1f", ipc);
    if (share > 0)
        fprintf(stderr, ", %.0f s left", seconds / share - seconds);
    fprintf(stderr, "   ");
    fflush(stderr);
}

void gpu_progress_end(struct gpu_progress *progress) {
    if (progress->has_shown)
        fprintf(stderr, "\r%79s\r", "");
}
