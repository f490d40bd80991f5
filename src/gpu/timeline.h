/* The device's timeline, inside gpu. See timeline.c, and struct gpu_work in gpu.h. */
#pragma once

#include "config/machine.h"
#include "gpu/gpu.h"

struct gpu_timeline;

/* The link must outlive the timeline. */
struct gpu_timeline *gpu_timeline_new(const struct config_link *link, uint32_t most_kernels);
void gpu_timeline_free(struct gpu_timeline *timeline); /* does nothing for NULL */
/* Returns the cycle in which work would start that may do so from cycle `ready` on. */
uint64_t gpu_timeline_start(const struct gpu_timeline *timeline, const struct gpu_work *work, uint64_t ready);
/* Adds work that may start from cycle `ready` on: a kernel with its cycles, or a copy with its bytes. Returns it with
 * its place in time. It is valid until the next call. */
const struct gpu_work *gpu_timeline_add(struct gpu_timeline *timeline, const struct gpu_work *work, uint64_t ready);
/* Adds a kernel that ran beside others, from cycle `first` to `end`. Returns the same. */
const struct gpu_work *gpu_timeline_note(struct gpu_timeline *timeline, const struct gpu_work *kernel);
const struct gpu_work *gpu_timeline_work(const struct gpu_timeline *timeline, uint32_t *count);
