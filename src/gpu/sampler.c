/* Samples are differences of the counters of SMs and channels. */
#include "gpu/sampler.h"

#include <stdlib.h>

#include "base/memory.h"

/* A count may be 0: perfect memory has no channels. */
static void *grow(void *memory, uint64_t count, size_t bytes) {
    void *larger = realloc(memory, count ? count * bytes : 1);
    if (!larger)
        abort();
    return larger;
}

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

static void take_sample(struct gpu_sampler *sampler) {
    struct gpu_series *series = sampler->series;
    if (series->n_samples == series->capacity) {
        series->capacity = series->capacity ? 2 * series->capacity : 256;
        series->thread_instructions =
            grow(series->thread_instructions, series->capacity * series->n_sms, sizeof(uint32_t));
        series->channel_busy = grow(series->channel_busy, series->capacity * series->n_channels, sizeof(uint32_t));
        series->resident_blocks = grow(series->resident_blocks, series->capacity * series->n_sms, sizeof(uint32_t));
        series->active_lanes = grow(series->active_lanes, series->capacity, sizeof *series->active_lanes);
    }
    uint64_t at = series->n_samples++, lanes[EXEC_LANES + 1] = {0};
    const uint64_t *busy;
    mem_channel_busy(sampler->mem, &busy);
    for (uint32_t i = 0; i < series->n_sms; i++)
        series->thread_instructions[at * series->n_sms + i] =
            since(sm_counters(sampler->sm[i])->thread_instructions, &sampler->thread_instructions[i]);
    for (uint32_t i = 0; i < series->n_sms; i++)
        series->resident_blocks[at * series->n_sms + i] = sm_count_blocks(sampler->sm[i]);
    for (uint32_t i = 0; i < series->n_channels; i++)
        series->channel_busy[at * series->n_channels + i] = since(busy[i], &sampler->channel_busy[i]);
    gpu_add_active_lanes(sampler->sm, series->n_sms, lanes);
    for (int i = 0; i <= EXEC_LANES; i++)
        series->active_lanes[at][i] = since(lanes[i], &sampler->active_lanes[i]);
}

void gpu_sampler_start(struct gpu_sampler *sampler, struct gpu_series *series, struct sm *const *sm, uint32_t n_sms,
                       const struct mem *mem, uint64_t cycle, uint64_t every_cycles) {
    const uint64_t *busy;
    *series = (struct gpu_series){.every_cycles = every_cycles, .n_sms = n_sms};
    series->n_channels = mem_channel_busy(mem, &busy);
    *sampler = (struct gpu_sampler){
        .series = series,
        .sm = sm,
        .mem = mem,
        .next = cycle + every_cycles,
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
    for (; cycle >= sampler->next; sampler->next += sampler->series->every_cycles)
        take_sample(sampler);
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
    free(series->active_lanes);
}
