/* Time series: the activity of a timed launch in intervals of equal length (--sample). */
#pragma once

#include "gpu/internal.h"
#include "mem/mem.h"
#include "sm/sm.h"

struct gpu_sampler {
    struct gpu_series *series;
    struct sm *const *sm;
    const struct mem *mem;
    uint64_t next;         /* cycle of the next sample */
    uint64_t most_samples; /* 0: no limit */
    /* counts since the start, as of the last sample */
    uint64_t *thread_instructions, *channel_busy;
    uint64_t active_lanes[EXEC_LANES + 1], row_hits, row_conflicts;
};

void gpu_sampler_start(struct gpu_sampler *sampler, struct gpu_series *series, struct sm *const *sm, uint32_t n_sms,
                       const struct mem *mem, uint64_t cycle, uint64_t every_cycles, uint64_t most_samples);
/* Takes the samples that are due: everything up to `cycle` has happened. */
void gpu_sampler_advance(struct gpu_sampler *sampler, uint64_t cycle);
/* Takes the last sample, of the remaining cycles. */
void gpu_sampler_end(struct gpu_sampler *sampler);

void gpu_series_free(struct gpu_series *series);

/* Adds up instructions by number of active lanes. */
void gpu_add_active_lanes(struct sm *const *sm, uint32_t n_sms, uint64_t sum[EXEC_LANES + 1]);
