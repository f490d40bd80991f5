/* The device's timeline: when each kernel and copy of a program runs.
 *
 * Heddle does the work in the order of the program's calls, and the results are those of that order. The timeline says
 * when the work would have run on the device. Work may start when the streams allow it (the caller knows that cycle),
 * and waits for its engine: kernels run one after the other, and so do copies in the same direction. A kernel takes the
 * cycles of its launch. A copy takes `link.latency` cycles, then transfers its bytes at the rate of the link or of the
 * device's own memory.
 *
 * Only machines with a link have a timeline. Without a link, copies take no time, and time passes only in kernels. */
#include "gpu/timeline.h"

#include <stdlib.h>

#include "base/memory.h"
#include "config/machine.h"

enum engine { ENGINE_KERNELS, ENGINE_TO_DEVICE, ENGINE_TO_HOST, ENGINE_ON_DEVICE, N_ENGINES };

struct gpu_timeline {
    const struct config_link *link;
    uint64_t free[N_ENGINES]; /* the first cycle in which the engine has nothing to do */
    struct gpu_work *work;    /* in the order of the calls */
    uint32_t n_work, capacity;
};

struct gpu_timeline *gpu_timeline_new(const struct config_link *link) {
    struct gpu_timeline *timeline = base_allocate(1, sizeof *timeline);
    timeline->link = link;
    return timeline;
}

void gpu_timeline_free(struct gpu_timeline *timeline) {
    if (!timeline)
        return;
    free(timeline->work);
    free(timeline);
}

static enum engine engine_of(enum gpu_work_kind kind) {
    switch (kind) {
    case GPU_WORK_TO_DEVICE:
        return ENGINE_TO_DEVICE;
    case GPU_WORK_TO_HOST:
        return ENGINE_TO_HOST;
    case GPU_WORK_ON_DEVICE:
    case GPU_WORK_FILL:
        return ENGINE_ON_DEVICE;
    default:
        return ENGINE_KERNELS;
    }
}

uint64_t gpu_timeline_start(const struct gpu_timeline *timeline, enum gpu_work_kind kind, uint64_t ready) {
    uint64_t free = timeline->free[engine_of(kind)];
    return free > ready ? free : ready;
}

/* Returns the cycles of a copy: its latency, then its bytes. */
static uint64_t copy_cycles(const struct config_link *link, const struct gpu_work *work) {
    bool is_copy_on_device = work->kind == GPU_WORK_ON_DEVICE; /* it reads and writes each byte */
    double bytes_per_cycle =
        is_copy_on_device || work->kind == GPU_WORK_FILL ? link->local_bytes_per_cycle : link->bytes_per_cycle;
    double cycles = (double)work->bytes * (is_copy_on_device ? 2 : 1) / bytes_per_cycle;
    uint64_t whole = (uint64_t)cycles;
    return link->latency_cycles + whole + ((double)whole < cycles);
}

const struct gpu_work *gpu_timeline_add(struct gpu_timeline *timeline, const struct gpu_work *work, uint64_t ready) {
    if (timeline->n_work == timeline->capacity) {
        timeline->capacity = timeline->capacity ? 2 * timeline->capacity : 64;
        timeline->work = base_grow(timeline->work, timeline->capacity, sizeof *timeline->work);
    }
    struct gpu_work *added = &timeline->work[timeline->n_work++];
    *added = *work;
    added->first = gpu_timeline_start(timeline, work->kind, ready);
    added->end = added->first + (work->kind == GPU_WORK_KERNEL ? work->n_cycles : copy_cycles(timeline->link, work));
    added->n_cycles = added->end - added->first;
    timeline->free[engine_of(work->kind)] = added->end;
    return added;
}

const struct gpu_work *gpu_timeline_work(const struct gpu_timeline *timeline, uint32_t *count) {
    *count = timeline ? timeline->n_work : 0;
    return timeline ? timeline->work : NULL;
}
