/* Busy threads. See busy.h. */
#include "divergence/large_warp/in_flight.h"

#include <stdlib.h>
#include <string.h>

#include "divergence/parts/wide.h"

#define NEVER UINT64_MAX

void divergence_busy_new(struct divergence_busy *busy, uint32_t most_rows) {
    busy->free_at = calloc(most_rows, sizeof *busy->free_at);
    busy->tag = calloc(most_rows, sizeof *busy->tag);
    busy->row_free_at = calloc(most_rows, sizeof *busy->row_free_at);
    if (!busy->free_at || !busy->tag || !busy->row_free_at)
        abort();
}

void divergence_busy_free(struct divergence_busy *busy) {
    free(busy->free_at);
    free(busy->tag);
    free(busy->row_free_at);
}

void divergence_busy_start(struct divergence_busy *busy, uint32_t n_rows) {
    busy->n_rows = n_rows;
    busy->next_tag = busy->first_tag = 0;
    busy->has_first = true;
    memset(busy->free_at, 0, n_rows * sizeof *busy->free_at);
    memset(busy->row_free_at, 0, n_rows * sizeof *busy->row_free_at);
    memset(busy->at_memory, 0, n_rows * sizeof *busy->at_memory);
}

void divergence_busy_mask(const struct divergence_busy *busy, uint64_t cycle, uint32_t *mask) {
    for (uint32_t i = 0; i < busy->n_rows; i++) {
        mask[i] = busy->at_memory[i];
        for (uint32_t lane = 0; busy->row_free_at[i] > cycle && lane < EXEC_LANES; lane++)
            mask[i] |= (uint32_t)(busy->free_at[i][lane] > cycle) << lane;
    }
}

static void set_free_at(struct divergence_busy *busy, uint32_t row, uint32_t lane, uint64_t free_at) {
    busy->free_at[row][lane] = free_at;
    if (free_at > busy->row_free_at[row])
        busy->row_free_at[row] = free_at;
}

uint32_t divergence_busy_issue(struct divergence_busy *busy, const uint32_t *packed, bool is_first, bool goes_to_memory,
                               uint64_t free_at) {
    uint32_t tag = busy->next_tag++;
    if (is_first) {
        busy->first_tag = tag;
        busy->has_first = false;
    }
    busy->has_first |= !goes_to_memory;
    for (uint32_t i = 0; i < busy->n_rows; i++)
        for (uint32_t left = packed[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            set_free_at(busy, i, lane, free_at);
            busy->tag[i][lane] = tag;
            busy->at_memory[i] |= (uint32_t)goes_to_memory << lane;
        }
    return tag;
}

void divergence_busy_ready(struct divergence_busy *busy, uint32_t tag, uint64_t ready) {
    for (uint32_t i = 0; i < busy->n_rows; i++)
        for (uint32_t left = busy->at_memory[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            if (busy->tag[i][lane] == tag && busy->free_at[i][lane] < ready)
                set_free_at(busy, i, lane, ready);
        }
}

void divergence_busy_complete(struct divergence_busy *busy, uint32_t tag, uint64_t cycle) {
    divergence_busy_ready(busy, tag, cycle + 1);
    busy->has_first |= tag - busy->first_tag < busy->next_tag - busy->first_tag;
    for (uint32_t i = 0; i < busy->n_rows; i++)
        for (uint32_t left = busy->at_memory[i]; left; left &= left - 1)
            if (busy->tag[i][__builtin_ctz(left)] == tag)
                busy->at_memory[i] &= ~(left & -left);
}

/* The earliest and the latest cycle in which one of these threads is free. */
static void find_bounds(const struct divergence_busy *busy, uint32_t row, uint32_t mask, uint64_t *first,
                        uint64_t *last) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t at = busy->at_memory[row] >> lane & 1 ? NEVER : busy->free_at[row][lane];
        *first = at < *first ? at : *first;
        *last = at > *last ? at : *last;
    }
}

/* A row has a thread that can go in the next cycle, and all others but those at memory can, too. */
static bool is_somebody_free(const struct divergence_busy *busy, const uint32_t *left, uint64_t cycle) {
    for (uint32_t i = 0; i < busy->n_rows; i++)
        if ((left[i] & ~busy->at_memory[i]) && busy->row_free_at[i] <= cycle + 1)
            return true;
    return false;
}

uint64_t divergence_busy_until(const struct divergence_busy *busy, const struct divergence_subwarps *subwarps,
                               bool is_first, uint64_t cycle) {
    uint64_t first = NEVER, last = 0, first_row = NEVER;
    bool needs_all = subwarps->shape == DIVERGENCE_SUBWARP_WHOLE || subwarps->shape == DIVERGENCE_SUBWARP_SCALAR;
    if (is_first && !busy->has_first)
        return NEVER;
    if (divergence_wide_is_empty(subwarps->left, busy->n_rows))
        return 0;
    if (!needs_all && is_somebody_free(busy, subwarps->left, cycle))
        return 0;
    for (uint32_t i = 0; i < busy->n_rows; i++) {
        uint64_t row_last = 0;
        find_bounds(busy, i, subwarps->left[i], &first, &row_last);
        last = row_last > last ? row_last : last;
        first_row = subwarps->left[i] && row_last < first_row ? row_last : first_row;
    }
    if (!needs_all)
        return first;
    return subwarps->shape == DIVERGENCE_SUBWARP_SCALAR ? last : first_row;
}
