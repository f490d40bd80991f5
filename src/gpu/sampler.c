/* Samples are differences of the counters of SMs and channels. */
#include "gpu/sampler.h"

#include <stdlib.h>
#include <string.h>

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

const char *const gpu_traffic_names[GPU_N_TRAFFIC] = {
#define GPU_TRAFFIC(name) #name,
#include "gpu/traffic.def"
};

void gpu_read_traffic(const struct stats_mem *counters, uint64_t value[GPU_N_TRAFFIC]) {
#define GPU_TRAFFIC(name) value[GPU_TRAFFIC_##name] = counters->name;
#include "gpu/traffic.def"
}

/* Adds the SMs' instructions of the sampler's launch, by number of active lanes. */
static void read_lanes(const struct gpu_sampler *sampler, uint64_t sum[EXEC_LANES + 1]) {
    memset(sum, 0, (EXEC_LANES + 1) * sizeof *sum);
    for (uint32_t i = 0; i < sampler->series->n_sms; i++) {
        const uint64_t *lanes = sm_see(sampler->sm[i], sampler->grid).active_lanes;
        for (int k = 0; k <= EXEC_LANES; k++)
            sum[k] += lanes[k];
    }
}

/* Reads the traffic of the memory, and the launch's share of the SMs' counters. */
static void read_traffic(const struct gpu_sampler *sampler, uint64_t value[GPU_N_TRAFFIC]) {
    uint64_t all[GPU_N_TRAFFIC], own[GPU_N_TRAFFIC];
    gpu_read_traffic(mem_counters(sampler->mem), value);
    for (uint32_t i = 0; sampler->grid != SM_ALL_GRIDS && i < sampler->series->n_sms; i++) {
        gpu_read_traffic(mem_sm_counters(sampler->mem, i), all);
        gpu_read_traffic(sm_see(sampler->sm[i], sampler->grid).mem, own);
        for (unsigned k = 0; k < GPU_N_TRAFFIC; k++)
            value[k] -= all[k] - own[k];
    }
}

static void read_cycles(const struct gpu_sampler *sampler, uint64_t cycle, uint64_t sum[1 + STATS_N_SM_STALLS]) {
    memset(sum, 0, (1 + STATS_N_SM_STALLS) * sizeof *sum);
    for (uint32_t i = 0; i < sampler->series->n_sms; i++)
        sm_add_cycles(sampler->sm[i], sampler->grid, cycle, sum);
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
    join_sums(series->sm_cycles[0], n, 1 + STATS_N_SM_STALLS);
    for (uint64_t row = 0; row < n / 2; row++)
        for (unsigned i = 0; i < GPU_N_TRAFFIC; i++)
            series->traffic[row][i] = series->traffic[2 * row][i] + series->traffic[2 * row + 1][i];
    if (sampler->lines)
        gpu_line_sampler_halve(sampler->lines, n);
    keep_last(series->resident_blocks, n, series->n_sms);
    keep_last(series->resident_groups, n, series->n_sms);
    series->n_samples = n / 2;
    series->every_cycles *= 2;
}

static void make_room(struct gpu_series *series) {
    if (series->n_samples < series->capacity)
        return;
    series->capacity = series->capacity ? 2 * series->capacity : 256;
    series->thread_instructions =
        base_grow(series->thread_instructions, series->capacity * series->n_sms, sizeof(uint32_t));
    series->channel_busy = base_grow(series->channel_busy, series->capacity * series->n_channels, sizeof(uint32_t));
    series->resident_blocks = base_grow(series->resident_blocks, series->capacity * series->n_sms, sizeof(uint32_t));
    series->resident_groups = base_grow(series->resident_groups, series->capacity * series->n_sms, sizeof(uint32_t));
    series->row_accesses = base_grow(series->row_accesses, series->capacity, sizeof *series->row_accesses);
    series->active_lanes = base_grow(series->active_lanes, series->capacity, sizeof *series->active_lanes);
    series->sm_cycles = base_grow(series->sm_cycles, series->capacity, sizeof *series->sm_cycles);
    series->traffic = base_grow(series->traffic, series->capacity, sizeof *series->traffic);
}

/* Records the work of the SMs and the traffic of the memory since the last sample. */
static void sample_course(struct gpu_sampler *sampler, uint64_t at, uint64_t cycle) {
    struct gpu_series *series = sampler->series;
    uint64_t sum[1 + STATS_N_SM_STALLS], traffic[GPU_N_TRAFFIC];
    read_cycles(sampler, cycle, sum);
    for (unsigned i = 0; i < 1 + STATS_N_SM_STALLS; i++)
        series->sm_cycles[at][i] = since(sum[i], &sampler->sm_cycles[i]);
    read_traffic(sampler, traffic);
    for (unsigned i = 0; i < GPU_N_TRAFFIC; i++) {
        series->traffic[at][i] = traffic[i] - sampler->traffic[i];
        sampler->traffic[i] = traffic[i];
    }
    if (!sampler->lines)
        return;
    for (uint32_t i = 0; i < series->n_sms; i++)
        sm_observe_end(sampler->sm[i], cycle);
    gpu_line_sampler_take(sampler->lines, at);
}

static void take_sample(struct gpu_sampler *sampler, uint64_t cycle) {
    struct gpu_series *series = sampler->series;
    make_room(series);
    uint64_t at = series->n_samples++, lanes[EXEC_LANES + 1];
    const uint64_t *busy;
    mem_channel_busy(sampler->mem, &busy);
    for (uint32_t i = 0; i < series->n_sms; i++) {
        const struct sm_seen seen = sm_see(sampler->sm[i], sampler->grid);
        series->thread_instructions[at * series->n_sms + i] =
            since(seen.counters->thread_instructions, &sampler->thread_instructions[i]);
        series->resident_blocks[at * series->n_sms + i] = seen.n_blocks;
        series->resident_groups[at * series->n_sms + i] = seen.n_groups;
    }
    const struct stats_mem *counters = mem_counters(sampler->mem);
    series->row_accesses[at][0] = since(counters->row_hits, &sampler->row_hits);
    series->row_accesses[at][1] = since(counters->row_conflicts, &sampler->row_conflicts);
    for (uint32_t i = 0; i < series->n_channels; i++)
        series->channel_busy[at * series->n_channels + i] = since(busy[i], &sampler->channel_busy[i]);
    read_lanes(sampler, lanes);
    for (int i = 0; i <= EXEC_LANES; i++)
        series->active_lanes[at][i] = since(lanes[i], &sampler->active_lanes[i]);
    sample_course(sampler, at, cycle);
}

void gpu_sampler_start(struct gpu_sampler *sampler, struct gpu_series *series, struct sm *const *sm, uint32_t n_sms,
                       uint32_t grid, const struct mem *mem, uint64_t cycle, uint64_t every_cycles,
                       uint64_t most_samples) {
    const uint64_t *busy;
    const struct stats_mem *counters = mem_counters(mem);
    *series = (struct gpu_series){.every_cycles = every_cycles, .n_sms = n_sms};
    series->n_channels = mem_channel_busy(mem, &busy);
    *sampler = (struct gpu_sampler){
        .series = series,
        .sm = sm,
        .grid = grid,
        .mem = mem,
        .next = cycle + every_cycles,
        .most_samples = most_samples & ~1ull,
        .row_hits = counters->row_hits,
        .row_conflicts = counters->row_conflicts,
        .thread_instructions = base_allocate(n_sms, sizeof(uint64_t)),
        .channel_busy = base_allocate(series->n_channels, sizeof(uint64_t)),
    };
    for (uint32_t i = 0; i < n_sms; i++)
        sampler->thread_instructions[i] = sm_see(sm[i], grid).counters->thread_instructions;
    for (uint32_t i = 0; i < series->n_channels; i++)
        sampler->channel_busy[i] = busy[i];
    read_lanes(sampler, sampler->active_lanes);
    read_cycles(sampler, cycle, sampler->sm_cycles);
    read_traffic(sampler, sampler->traffic);
}

void gpu_sampler_advance(struct gpu_sampler *sampler, uint64_t cycle) {
    while (cycle >= sampler->next) {
        take_sample(sampler, sampler->next);
        if (sampler->series->n_samples == sampler->most_samples)
            halve(sampler);
        sampler->next += sampler->series->every_cycles;
    }
}

void gpu_sampler_end(struct gpu_sampler *sampler, uint64_t cycle) {
    take_sample(sampler, cycle);
    if (sampler->lines)
        gpu_line_sampler_end(sampler->lines, sampler->series->n_samples, &sampler->series->lines);
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
    free(series->sm_cycles);
    free(series->traffic);
    for (uint32_t i = 0; i < series->lines.n_lines; i++)
        free(series->lines.line[i].file);
    free(series->lines.cycles);
}
