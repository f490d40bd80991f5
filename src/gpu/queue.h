/* The device's queue of waiting work, inside gpu. See queue.c, and struct gpu_after in gpu.h. */
#pragma once

#include "gpu/gpu.h"

struct gpu_queue;

struct gpu_task {
    enum gpu_task_state { GPU_TASK_WAITS, GPU_TASK_RUNS, GPU_TASK_ENDED } state;
    bool is_launch;
    uint64_t ready;  /* it does not start before this cycle, whatever it waits for */
    uint32_t *after; /* tasks that must have ended */
    uint32_t n_after;
    uint64_t end; /* ENDED: its first cycle after */
    struct gpu_launch launch;
    uint64_t (*act)(void *user, uint64_t ready);
    void *user;
};

void gpu_queue_free(struct gpu_queue *queue);
/* Does the driver's work that may start by this cycle, in the order of time. Then returns the launch that may start
 * first, if it may by then, with launch.ready set. Otherwise returns NULL and sets *next to the cycle of the first work
 * that may start without waiting for a launch, or UINT64_MAX. */
struct gpu_task *gpu_queue_next(struct gpu_queue *queue, uint64_t by, uint64_t *next);
/* Returns the most shared memory that the blocks of a waiting launch take on an SM, and that of `launch`. */
uint64_t gpu_queue_shared_bytes(const struct gpu *gpu, const struct gpu_launch *launch);

/* together.c: runs the task, and with it every launch that may start before all have ended. */
bool gpu_run_together(struct gpu *gpu, struct gpu_task *first, struct gpu_error *error);
