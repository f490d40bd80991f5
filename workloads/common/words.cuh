// Words of a text on the device, for ii and wc.
#pragma once

#include <heddle/device.h>

enum : unsigned { FIRST_HASH = 2166136261u, HASH_FACTOR = 16777619u };

static __device__ __forceinline__ bool is_letter(unsigned c) { return c > ' '; }

// Reads the word that begins at *next, letter by letter, moves *next behind it and returns its hash (FNV-1a).
static __device__ __forceinline__ unsigned read_word(const unsigned char *&next, unsigned letter) {
    unsigned hash = FIRST_HASH;
#pragma unroll 1
    do {
        hash = (hash ^ letter) * HASH_FACTOR;
        letter = *++next;
    } while (is_letter(letter));
    return hash;
}

// A table of open addressing with a power of two of slots; 32 - shift bits of a hash choose the first slot. Key 0:
// empty.
static __device__ __forceinline__ unsigned slot_after(unsigned slot, unsigned shift) {
    return (slot + 1) & (0xffffffffu >> shift);
}
