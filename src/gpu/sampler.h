/* Time series: the activity of a timed launch in intervals of equal length (--sample). */
#pragma once

#include "gpu/internal.h"
#include "mem/mem.h"
#include "sm/sm.h"

struct gpu_sampler {
    struct gpu_series *series;
    struct sm *const *sm;
    uint32_t grid; /* its number on the SMs, if several run; SM_ALL_GRIDS: one */
    const struct mem *mem;
    uint64_t next;         /* cycle of the next sample */
    uint64_t most_samples; /* 0: no limit */
    /* counts since the start, as of the last sample */
    uint64_t *thread_instructions, *channel_busy;
    uint64_t active_lanes[EXEC_LANES + 1], row_hits, row_conflicts;
    uint64_t sm_cycles[1 + STATS_N_SM_STALLS], traffic[GPU_N_TRAFFIC];
    struct gpu_line_sampler *lines; /* NULL: not recorded */
};

/* A launch begins after `cycle`. `grid` is its number on the SMs, or SM_ALL_GRIDS if no other launch runs at the same
 * time. Otherwise its samples contain the launch's own share of the SMs and their L1s, but the L2, the crossbar and
 * DRAM as they are, for all launches together. */
void gpu_sampler_start(struct gpu_sampler *sampler, struct gpu_series *series, struct sm *const *sm, uint32_t n_sms,
                       uint32_t grid, const struct mem *mem, uint64_t cycle, uint64_t every_cycles,
                       uint64_t most_samples);
/* Takes the samples that are due: everything up to `cycle` has happened. */
void gpu_sampler_advance(struct gpu_sampler *sampler, uint64_t cycle);
/* Takes the last sample, of the remaining cycles up to `cycle`. */
void gpu_sampler_end(struct gpu_sampler *sampler, uint64_t cycle);

/* line_series.c: the source lines of a grid that records them. `most_samples` bounds the table. */
struct gpu_line_sampler *gpu_line_sampler_new(const struct exec_grid *grid, uint64_t most_samples);
/* Takes sample number `at`. */
void gpu_line_sampler_take(struct gpu_line_sampler *sampler, uint64_t at);
/* Turns every two of `n_samples` into one. */
void gpu_line_sampler_halve(struct gpu_line_sampler *sampler, uint64_t n_samples);
/* Writes the table of the longest lines to `series`, and frees the sampler. */
void gpu_line_sampler_end(struct gpu_line_sampler *sampler, uint64_t n_samples, struct gpu_line_series *series);

void gpu_series_free(struct gpu_series *series);

/* Reads the counters of gpu_traffic_names. */
void gpu_read_traffic(const struct stats_mem *counters, uint64_t value[GPU_N_TRAFFIC]);

/* Adds up instructions by number of active lanes. */
void gpu_add_active_lanes(struct sm *const *sm, uint32_t n_sms, uint64_t sum[EXEC_LANES + 1]);
