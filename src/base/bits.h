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

/* The same for 64 bits. */
static inline uint32_t base_count_long_bits(uint64_t word) {
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcountll(word);
#endif
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}
