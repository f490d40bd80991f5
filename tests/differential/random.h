/* The random numbers and the hash of the differential tester: splitmix64 (Steele, Lea and Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014). Everything depends on the seed alone, on every host: no expression
 * draws twice, since the order of evaluation is unspecified. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t random_next(struct random *random) { return random_mix(random->state += 0x9e3779b97f4a7c15u); }

/* Returns a stream of random numbers; streams of different seeds, programs or numbers are independent. */
static inline struct random random_stream(uint64_t seed, uint64_t program, uint64_t number) {
    uint64_t state = random_mix(seed + 0x9e3779b97f4a7c15u);
    state = random_mix(state ^ random_mix(program + 0xd1b54a32d192ed03u));
    return (struct random){random_mix(state ^ random_mix(number + 0x8cb92ba72f3d8dd7u))};
}

/* 0 <= result < n */
static inline uint32_t random_below(struct random *random, uint32_t n) {
    return (uint32_t)((random_next(random) >> 32) * n >> 32);
}

static inline bool random_chance(struct random *random, uint32_t percent) {
    return random_below(random, 100) < percent;
}

static inline uint64_t random_hash(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9fb21c651e98df25u;
    return hash ^ hash >> 32;
}
