/* The device's timeline: when each kernel and copy of a program runs.
 *
 * Heddle does work that waits for nothing in the order of the program's calls. The timeline determines when the device
 * would have run it. Work may start when the streams allow it (the caller knows that cycle). Copies in the same
 * direction run one after the other. A copy takes `link.latency` cycles, then transfers its bytes at the rate of the
 * link or of the device's own memory.
 *
 * Kernels that wait in the device at the same time are simulated together (together.c), and their times are known. Any
 * other kernel takes the cycles of its launch, which Heddle simulates alone. Such kernels run at the same time, at most
 * `launch.concurrent` of them, if the SMs have places for all blocks of each: a kernel whose blocks take a share of the
 * places waits until that share is free for as long as it runs. A kernel with more blocks than places takes all of
 * them. They do not slow each other down.
 *
 * Only machines with a link have a timeline. Without a link, copies take no time, and time passes only in kernels. */
#include "gpu/timeline.h"

#include <stdlib.h>

#include "base/memory.h"
#include "config/machine.h"

enum engine { ENGINE_KERNELS, ENGINE_TO_DEVICE, ENGINE_TO_HOST, ENGINE_ON_DEVICE, N_ENGINES };

enum { MOST_PLACED = 64 }; /* kernels that are remembered. No kernel starts before the end of one that is not */

struct gpu_timeline {
    const struct config_link *link;
    uint32_t most_kernels;               /* at the same time */
    uint64_t free[N_ENGINES];            /* the first cycle in which the engine has nothing to do */
    struct gpu_work placed[MOST_PLACED]; /* kernels */
    uint32_t n_placed;
    struct gpu_work *work; /* in the order of the calls */
    uint32_t n_work, capacity;
};

struct gpu_timeline *gpu_timeline_new(const struct config_link *link, uint32_t most_kernels) {
    struct gpu_timeline *timeline = base_allocate(1, sizeof *timeline);
    timeline->link = link;
    timeline->most_kernels = most_kernels;
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

/* Returns whether a kernel with this share can run in this cycle, beside those that were placed before. */
static bool has_room(const struct gpu_timeline *timeline, double share, uint64_t cycle) {
    const double whole = 1 + 1e-9; /* shares are fractions, and do not add up exactly */
    uint32_t n = 1;
    for (uint32_t i = 0; i < timeline->n_placed; i++) {
        const struct gpu_work *other = &timeline->placed[i];
        if (other->first <= cycle && cycle < other->end) {
            share += other->share;
            n++;
        }
    }
    return share <= whole && n <= timeline->most_kernels;
}

/* Returns whether there is room from this cycle on. The need for room grows only where a kernel starts. */
static bool keeps_room(const struct gpu_timeline *timeline, double share, uint64_t cycle) {
    bool has = has_room(timeline, share, cycle);
    for (uint32_t i = 0; has && i < timeline->n_placed; i++)
        if (timeline->placed[i].first > cycle)
            has = has_room(timeline, share, timeline->placed[i].first);
    return has;
}

static uint64_t kernel_start(const struct gpu_timeline *timeline, double share, uint64_t cycle) {
    while (!keeps_room(timeline, share, cycle)) { /* tries again when the next of the others ends */
        uint64_t next = UINT64_MAX;
        for (uint32_t i = 0; i < timeline->n_placed; i++)
            if (timeline->placed[i].end > cycle && timeline->placed[i].end < next)
                next = timeline->placed[i].end;
        cycle = next;
    }
    return cycle;
}

/* Remembers a kernel, in the place of the one that ends first if there are too many. */
static void place(struct gpu_timeline *timeline, const struct gpu_work *kernel) {
    uint32_t at = timeline->n_placed;
    if (at < MOST_PLACED) {
        timeline->n_placed++;
    } else {
        at = 0;
        for (uint32_t i = 1; i < MOST_PLACED; i++)
            if (timeline->placed[i].end < timeline->placed[at].end)
                at = i;
        timeline->free[ENGINE_KERNELS] = timeline->placed[at].end;
    }
    timeline->placed[at] = *kernel;
}

uint64_t gpu_timeline_start(const struct gpu_timeline *timeline, const struct gpu_work *work, uint64_t ready) {
    uint64_t free = timeline->free[engine_of(work->kind)];
    uint64_t start = free > ready ? free : ready;
    return work->kind == GPU_WORK_KERNEL ? kernel_start(timeline, work->share, start) : start;
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

static struct gpu_work *append(struct gpu_timeline *timeline, const struct gpu_work *work) {
    if (timeline->n_work == timeline->capacity) {
        timeline->capacity = timeline->capacity ? 2 * timeline->capacity : 64;
        timeline->work = base_grow(timeline->work, timeline->capacity, sizeof *timeline->work);
    }
    struct gpu_work *added = &timeline->work[timeline->n_work++];
    *added = *work;
    return added;
}

const struct gpu_work *gpu_timeline_note(struct gpu_timeline *timeline, const struct gpu_work *kernel) {
    struct gpu_work *added = append(timeline, kernel);
    added->n_cycles = added->end - added->first;
    place(timeline, added);
    return added;
}

const struct gpu_work *gpu_timeline_add(struct gpu_timeline *timeline, const struct gpu_work *work, uint64_t ready) {
    struct gpu_work *added = append(timeline, work);
    added->first = gpu_timeline_start(timeline, work, ready);
    added->end = added->first + (work->kind == GPU_WORK_KERNEL ? work->n_cycles : copy_cycles(timeline->link, work));
    added->n_cycles = added->end - added->first;
    if (work->kind == GPU_WORK_KERNEL)
        place(timeline, added);
    else
        timeline->free[engine_of(work->kind)] = added->end;
    return added;
}

const struct gpu_work *gpu_timeline_work(const struct gpu_timeline *timeline, uint32_t *count) {
    *count = timeline ? timeline->n_work : 0;
    return timeline ? timeline->work : NULL;
}
