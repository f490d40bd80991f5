/* Source lines over time: in each sample, the cycles that groups spent at each line, issuing it or waiting. The PTX
 * lines of one CUDA line count together. A kernel without source lines uses those of its PTX. At the end only the lines
 * that took most remain, which keeps the table small for any kernel. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exec/profile.h"
#include "gpu/sampler.h"

/* A table has at most this many numbers while it is recorded. */
enum { MOST_NUMBERS = 1 << 24 };

struct gpu_line_sampler {
    const struct exec_grid *grid;
    uint32_t n_places;
    struct gpu_place *place;
    uint32_t *place_of; /* by pc */
    uint64_t *last;     /* by place: cycles as of the last sample */
    uint64_t *now;
    uint32_t *cycles; /* by sample and place */
    uint64_t capacity;
};

/* Neighbouring instructions often belong to one line, so the last place is tried first. */
static uint32_t number_of(struct gpu_line_sampler *sampler, struct gpu_place place) {
    for (uint32_t i = sampler->n_places; i-- > 0;)
        if (gpu_is_same_place(sampler->place[i], place))
            return i;
    sampler->place[sampler->n_places] = place;
    return sampler->n_places++;
}

struct gpu_line_sampler *gpu_line_sampler_new(const struct exec_grid *grid, uint64_t most_samples) {
    uint32_t n = grid->program->n_insns;
    if (!most_samples || most_samples > MOST_NUMBERS / n)
        return NULL;
    struct gpu_line_sampler *sampler = base_allocate(1, sizeof *sampler);
    sampler->grid = grid;
    sampler->place = base_allocate(n, sizeof *sampler->place);
    sampler->place_of = base_allocate(n, sizeof *sampler->place_of);
    for (uint32_t pc = 0; pc < n; pc++)
        sampler->place_of[pc] = number_of(sampler, gpu_place_at(grid->program, pc));
    sampler->last = base_allocate(sampler->n_places, sizeof *sampler->last);
    sampler->now = base_allocate(sampler->n_places, sizeof *sampler->now);
    return sampler;
}

void gpu_line_sampler_take(struct gpu_line_sampler *sampler, uint64_t at) {
    const struct stats_line *line = sampler->grid->profile->line;
    uint32_t n = sampler->n_places;
    if (at >= sampler->capacity) {
        sampler->capacity = 2 * at + 64;
        sampler->cycles = base_grow(sampler->cycles, sampler->capacity * n, sizeof *sampler->cycles);
    }
    memset(sampler->now, 0, n * sizeof *sampler->now);
    for (uint32_t pc = 0; pc < sampler->grid->program->n_insns; pc++)
        sampler->now[sampler->place_of[pc]] += line[pc].executed + stats_line_stall_cycles(&line[pc]);
    for (uint32_t i = 0; i < n; i++) {
        sampler->cycles[at * n + i] = (uint32_t)(sampler->now[i] - sampler->last[i]);
        sampler->last[i] = sampler->now[i];
    }
}

void gpu_line_sampler_halve(struct gpu_line_sampler *sampler, uint64_t n_samples) {
    uint32_t n = sampler->n_places, *cycles = sampler->cycles;
    for (uint64_t row = 0; row < n_samples / 2; row++)
        for (uint32_t i = 0; i < n; i++)
            cycles[row * n + i] = cycles[2 * row * n + i] + cycles[(2 * row + 1) * n + i];
}

/* Returns the place with most cycles that is not in the series yet; n_places: none. */
static uint32_t longest(const struct gpu_line_sampler *sampler, const bool *is_taken) {
    uint32_t most = sampler->n_places;
    for (uint32_t i = 0; i < sampler->n_places; i++)
        if (!is_taken[i] && sampler->last[i] && (most == sampler->n_places || sampler->last[i] > sampler->last[most]))
            most = i;
    return most;
}

void gpu_line_sampler_end(struct gpu_line_sampler *sampler, uint64_t n_samples, struct gpu_line_series *series) {
    uint32_t n = sampler->n_places, chosen[GPU_MOST_SERIES_LINES], most;
    bool *is_taken = base_allocate(n, sizeof *is_taken);
    while (series->n_lines < GPU_MOST_SERIES_LINES && (most = longest(sampler, is_taken)) < n) {
        const struct gpu_place *place = &sampler->place[most];
        chosen[series->n_lines] = most;
        is_taken[most] = true;
        series->line[series->n_lines++] =
            (struct gpu_series_line){place->file ? strdup(place->file) : NULL, place->line};
    }
    uint32_t columns = series->n_lines + 1;
    series->cycles = base_allocate(n_samples * columns, sizeof *series->cycles);
    for (uint64_t row = 0; row < n_samples; row++) {
        uint32_t *to = &series->cycles[row * columns];
        const uint32_t *from = &sampler->cycles[row * n];
        for (uint32_t i = 0; i < series->n_lines; i++)
            to[i] = from[chosen[i]];
        for (uint32_t i = 0; i < n; i++)
            to[series->n_lines] += is_taken[i] ? 0 : from[i];
    }
    free(is_taken);
    free(sampler->place);
    free(sampler->place_of);
    free(sampler->last);
    free(sampler->now);
    free(sampler->cycles);
    free(sampler);
}
