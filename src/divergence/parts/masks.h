/* Masks over several rows: an array with one word of lanes for each row. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline bool divergence_masks_are_empty(const uint32_t *mask, uint32_t n_rows) {
    uint32_t any = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        any |= mask[i];
    return !any;
}

static inline bool divergence_masks_are_equal(const uint32_t *a, const uint32_t *b, uint32_t n_rows) {
    uint32_t differs = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}

static inline uint32_t divergence_masks_count(const uint32_t *mask, uint32_t n_rows) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        n += (uint32_t)__builtin_popcount(mask[i]);
    return n;
}

static inline void divergence_masks_remove(uint32_t *from, const uint32_t *mask, uint32_t n_rows) {
    for (uint32_t i = 0; i < n_rows; i++)
        from[i] &= ~mask[i];
}
