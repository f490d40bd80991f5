/* Threads in flight. See in_flight.h. */
#include "divergence/large_warp/in_flight.h"

#include <stdlib.h>
#include <string.h>

#include "divergence/parts/control.h"

#define NEVER UINT64_MAX

void divergence_in_flight_new(struct divergence_in_flight *in_flight, uint32_t most_rows) {
    in_flight->free_at = calloc(most_rows, sizeof *in_flight->free_at);
    in_flight->tag = calloc(most_rows, sizeof *in_flight->tag);
    in_flight->row_free_at = calloc(most_rows, sizeof *in_flight->row_free_at);
    if (!in_flight->free_at || !in_flight->tag || !in_flight->row_free_at)
        abort();
}

void divergence_in_flight_free(struct divergence_in_flight *in_flight) {
    free(in_flight->free_at);
    free(in_flight->tag);
    free(in_flight->row_free_at);
}

void divergence_in_flight_start(struct divergence_in_flight *in_flight, uint32_t n_rows) {
    in_flight->n_rows = n_rows;
    in_flight->next_tag = in_flight->first_tag = 0;
    in_flight->has_first = true;
    memset(in_flight->free_at, 0, n_rows * sizeof *in_flight->free_at);
    memset(in_flight->row_free_at, 0, n_rows * sizeof *in_flight->row_free_at);
    memset(in_flight->at_memory, 0, n_rows * sizeof *in_flight->at_memory);
}

void divergence_in_flight_mask(const struct divergence_in_flight *in_flight, uint64_t cycle, uint32_t *mask) {
    for (uint32_t i = 0; i < in_flight->n_rows; i++) {
        mask[i] = in_flight->at_memory[i];
        for (uint32_t lane = 0; in_flight->row_free_at[i] > cycle && lane < EXEC_LANES; lane++)
            mask[i] |= (uint32_t)(in_flight->free_at[i][lane] > cycle) << lane;
    }
}

static void set_free_at(struct divergence_in_flight *in_flight, uint32_t row, uint32_t lane, uint64_t free_at) {
    in_flight->free_at[row][lane] = free_at;
    if (free_at > in_flight->row_free_at[row])
        in_flight->row_free_at[row] = free_at;
}

uint32_t divergence_in_flight_issue(struct divergence_in_flight *in_flight, const uint32_t *packed, bool is_first,
                                    bool goes_to_memory, uint64_t free_at) {
    uint32_t tag = in_flight->next_tag++;
    if (is_first) {
        in_flight->first_tag = tag;
        in_flight->has_first = false;
    }
    in_flight->has_first |= !goes_to_memory;
    for (uint32_t i = 0; i < in_flight->n_rows; i++)
        for (uint32_t left = packed[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            set_free_at(in_flight, i, lane, free_at);
            in_flight->tag[i][lane] = tag;
            in_flight->at_memory[i] |= (uint32_t)goes_to_memory << lane;
        }
    return tag;
}

void divergence_in_flight_ready(struct divergence_in_flight *in_flight, uint32_t tag, uint64_t ready) {
    for (uint32_t i = 0; i < in_flight->n_rows; i++)
        for (uint32_t left = in_flight->at_memory[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            if (in_flight->tag[i][lane] == tag && in_flight->free_at[i][lane] < ready)
                set_free_at(in_flight, i, lane, ready);
        }
}

void divergence_in_flight_complete(struct divergence_in_flight *in_flight, uint32_t tag, uint64_t cycle) {
    divergence_in_flight_ready(in_flight, tag, cycle + 1);
    in_flight->has_first |= tag - in_flight->first_tag < in_flight->next_tag - in_flight->first_tag;
    for (uint32_t i = 0; i < in_flight->n_rows; i++)
        for (uint32_t left = in_flight->at_memory[i]; left; left &= left - 1)
            if (in_flight->tag[i][__builtin_ctz(left)] == tag)
                in_flight->at_memory[i] &= ~(left & -left);
}

/* Widens *first to *last to the cycles in which these threads leave the pipeline. */
static void find_bounds(const struct divergence_in_flight *in_flight, uint32_t row, uint32_t mask, uint64_t *first,
                        uint64_t *last) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t at = in_flight->at_memory[row] >> lane & 1 ? NEVER : in_flight->free_at[row][lane];
        *first = at < *first ? at : *first;
        *last = at > *last ? at : *last;
    }
}

/* Returns whether a row has a thread that can issue in the next cycle, and all its others can too, except those at
 * memory. */
static bool has_free_row(const struct divergence_in_flight *in_flight, const uint32_t *left, uint64_t cycle) {
    for (uint32_t i = 0; i < in_flight->n_rows; i++)
        if ((left[i] & ~in_flight->at_memory[i]) && in_flight->row_free_at[i] <= cycle + 1)
            return true;
    return false;
}

uint64_t divergence_in_flight_until(const struct divergence_in_flight *in_flight,
                                    const struct divergence_subwarps *subwarps, bool is_first, uint64_t cycle) {
    uint64_t first = NEVER, last = 0, first_row = NEVER;
    bool needs_all = subwarps->shape == DIVERGENCE_SUBWARP_WHOLE || subwarps->shape == DIVERGENCE_SUBWARP_SCALAR;
    if (is_first && !in_flight->has_first)
        return NEVER;
    if (divergence_masks_are_empty(subwarps->left, in_flight->n_rows))
        return 0;
    if (!needs_all && has_free_row(in_flight, subwarps->left, cycle))
        return 0;
    for (uint32_t i = 0; i < in_flight->n_rows; i++) {
        uint64_t row_last = 0;
        find_bounds(in_flight, i, subwarps->left[i], &first, &row_last);
        last = row_last > last ? row_last : last;
        first_row = subwarps->left[i] && row_last < first_row ? row_last : first_row;
    }
    if (!needs_all)
        return first;
    return subwarps->shape == DIVERGENCE_SUBWARP_SCALAR ? last : first_row;
}
