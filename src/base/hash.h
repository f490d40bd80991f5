/* A 64-bit hash of bytes, 8 at a time, to tell equal contents from different ones. Not for secrets. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Combines the two halves of the product, which depend on every bit of both factors. */
static inline uint64_t base_hash_mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* seed: the hash of the preceding bytes, or 0. */
static inline uint64_t base_hash(const void *data, size_t n_bytes, uint64_t seed) {
    const unsigned char *at = data;
    uint64_t hash = seed ^ (n_bytes * UINT64_C(0x9E3779B97F4A7C15)), word;
    for (; n_bytes >= sizeof word; at += sizeof word, n_bytes -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = base_hash_mix(hash ^ word ^ UINT64_C(0xA0761D6478BD642F), UINT64_C(0xE7037ED1A0B428DB));
    }
    word = 0;
    if (n_bytes)
        memcpy(&word, at, n_bytes);
    return base_hash_mix(hash ^ word ^ UINT64_C(0x8EBC6AF09C88C6E3), UINT64_C(0x589965CC75374CC3));
}
