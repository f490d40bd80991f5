/* Counts bits without a call. Baseline x86-64 has no instruction for it, and libgcc's function costs 3 % of a timed
 * run. */
#pragma once

#include <stdint.h>

static inline uint32_t base_count_bits(uint32_t word) {
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    return ((word + (word >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
