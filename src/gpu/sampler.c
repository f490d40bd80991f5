/* Samples are differences of the counters of SMs and channels. */
#include "gpu/sampler.h"

#include <stdlib.h>

#include "base/memory.h"

void gpu_add_active_lanes(struct sm *const *sm, uint32_t n_sms, uint64_t sum[EXEC_LANES + 1]) {
    for (uint32_t i = 0; i < n_sms; i++)
        for (int lanes = 0; lanes <= EXEC_LANES; lanes++)
            sum[lanes] += sm_active_lanes(sm[i])[lanes];
}

static uint32_t since(uint64_t now, uint64_t *last) {
    uint64_t difference = now - *last;
    *last = now;
    return (uint32_t)difference;
}

/* Adds each second row to the one before it. */
static void join_sums(uint32_t *value, uint64_t n_rows, size_t n_columns) {
    for (uint64_t row = 0; row < n_rows / 2; row++)
        for (size_t i = 0; i < n_columns; i++)
            value[row * n_columns + i] = value[2 * row * n_columns + i] + value[(2 * row + 1) * n_columns + i];
}

/* Keeps every second row: the state at the end of the longer interval. */
static void keep_last(uint32_t *value, uint64_t n_rows, size_t n_columns) {
    for (uint64_t row = 0; row < n_rows / 2; row++)
        for (size_t i = 0; i < n_columns; i++)
            value[row * n_columns + i] = value[(2 * row + 1) * n_columns + i];
}

/* Turns every two samples into one. Their number is even. */
static void halve(struct gpu_sampler *sampler) {
    struct gpu_series *series = sampler->series;
    uint64_t n = series->n_samples;
    join_sums(series->thread_instructions, n, series->n_sms);
    join_sums(series->channel_busy, n, series->n_channels);
    join_sums(series->row_accesses[0], n, 2);
    join_sums(series->active_lanes[0], n, EXEC_LANES + 1);
    keep_last(series->resident_blocks, n, series->n_sms);
    keep_last(series->resident_groups, n, series->n_sms);
    series->n_samples = n / 2;
    series->every_cycles *= 2;
}

static void take_sample(struct gpu_sampler *sampler) {
    struct gpu_series *series = sampler->series;
    if (series->n_samples == series->capacity) {
        series->capacity = series->capacity ? 2 * series->capacity : 256;
        series->thread_instructions =
            base_grow(series->thread_instructions, series->capacity * series->n_sms, sizeof(uint32_t));
        series->channel_busy = base_grow(series->channel_busy, series->capacity * series->n_channels, sizeof(uint32_t));
        series->resident_blocks =
            base_grow(series->resident_blocks, series->capacity * series->n_sms, sizeof(uint32_t));
        series->resident_groups =
            base_grow(series->resident_groups, series->capacity * series->n_sms, sizeof(uint32_t));
        series->row_accesses = base_grow(series->row_accesses, series->capacity, sizeof *series->row_accesses);
        series->active_lanes = base_grow(series->active_lanes, series->capacity, sizeof *series->active_lanes);
    }
    uint64_t at = series->n_samples++, lanes[EXEC_LANES + 1] = {0};
    const uint64_t *busy;
    mem_channel_busy(sampler->mem, &busy);
    for (uint32_t i = 0; i < series->n_sms; i++)
        series->thread_instructions[at * series->n_sms + i] =
            since(sm_counters(sampler->sm[i])->thread_instructions, &sampler->thread_instructions[i]);
    for (uint32_t i = 0; i < series->n_sms; i++) {
        series->resident_blocks[at * series->n_sms + i] = sm_count_blocks(sampler->sm[i]);
        series->resident_groups[at * series->n_sms + i] = sm_count_groups(sampler->sm[i]);
    }
    const struct stats_mem *counters = mem_counters(sampler->mem);
    series->row_accesses[at][0] = since(counters->row_hits, &sampler->row_hits);
    series->row_accesses[at][1] = since(counters->row_conflicts, &sampler->row_conflicts);
    for (uint32_t i = 0; i < series->n_channels; i++)
        series->channel_busy[at * series->n_channels + i] = since(busy[i], &sampler->channel_busy[i]);
    gpu_add_active_lanes(sampler->sm, series->n_sms, lanes);
    for (int i = 0; i <= EXEC_LANES; i++)
        series->active_lanes[at][i] = since(lanes[i], &sampler->active_lanes[i]);
}

void gpu_sampler_start(struct gpu_sampler *sampler, struct gpu_series *series, struct sm *const *sm, uint32_t n_sms,
                       const struct mem *mem, uint64_t cycle, uint64_t every_cycles, uint64_t most_samples) {
    const uint64_t *busy;
    const struct stats_mem *counters = mem_counters(mem);
    *series = (struct gpu_series){.every_cycles = every_cycles, .n_sms = n_sms};
    series->n_channels = mem_channel_busy(mem, &busy);
    *sampler = (struct gpu_sampler){
        .series = series,
        .sm = sm,
        .mem = mem,
        .next = cycle + every_cycles,
        .most_samples = most_samples & ~1ull,
        .row_hits = counters->row_hits,
        .row_conflicts = counters->row_conflicts,
        .thread_instructions = base_allocate(n_sms, sizeof(uint64_t)),
        .channel_busy = base_allocate(series->n_channels, sizeof(uint64_t)),
    };
    for (uint32_t i = 0; i < n_sms; i++)
        sampler->thread_instructions[i] = sm_counters(sm[i])->thread_instructions;
    for (uint32_t i = 0; i < series->n_channels; i++)
        sampler->channel_busy[i] = busy[i];
    gpu_add_active_lanes(sm, n_sms, sampler->active_lanes);
}

void gpu_sampler_advance(struct gpu_sampler *sampler, uint64_t cycle) {
    while (cycle >= sampler->next) {
        take_sample(sampler);
        if (sampler->series->n_samples == sampler->most_samples)
            halve(sampler);
        sampler->next += sampler->series->every_cycles;
    }
}

void gpu_sampler_end(struct gpu_sampler *sampler) {
    take_sample(sampler);
    free(sampler->thread_instructions);
    free(sampler->channel_busy);
}

void gpu_series_free(struct gpu_series *series) {
    free(series->thread_instructions);
    free(series->channel_busy);
    free(series->resident_blocks);
    free(series->resident_groups);
    free(series->row_accesses);
    free(series->active_lanes);
}
