/* Numbers for the warps of an SM, for models whose groups change slots: the splits of a warp have the warp's number
 * (divergence.h, warp_id). */
#pragma once

#include <stdint.h>

#include "divergence/divergence.h"

struct divergence_warp_ids {
    uint64_t used[16]; /* a bit for each */
};

/* Returns the lowest number that no warp has, or DIVERGENCE_NO_WARP. */
static inline uint32_t divergence_take_warp_id(struct divergence_warp_ids *ids) {
    for (uint32_t word = 0; word < sizeof ids->used / sizeof ids->used[0]; word++)
        if (~ids->used[word]) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~ids->used[word]);
            ids->used[word] |= 1ull << bit;
            return word * 64 + bit;
        }
    return DIVERGENCE_NO_WARP;
}

static inline void divergence_free_warp_id(struct divergence_warp_ids *ids, uint32_t warp_id) {
    if (warp_id != DIVERGENCE_NO_WARP)
        ids->used[warp_id / 64] &= ~(1ull << warp_id % 64);
}
