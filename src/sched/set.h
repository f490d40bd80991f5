/* Sets of slots as bits: one or two machine instructions replace a loop over warps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SCHED_MAX_SLOTS = 128, SCHED_WORDS = SCHED_MAX_SLOTS / 64, SCHED_NONE = -1 };

struct sched_set {
    uint64_t word[SCHED_WORDS];
};

static inline bool sched_has(const struct sched_set *set, uint32_t slot) {
    return set->word[slot / 64] >> slot % 64 & 1;
}

static inline void sched_add(struct sched_set *set, uint32_t slot) { set->word[slot / 64] |= 1ull << slot % 64; }

static inline void sched_remove(struct sched_set *set, uint32_t slot) { set->word[slot / 64] &= ~(1ull << slot % 64); }

/* Adds or removes the slot. */
static inline void sched_put(struct sched_set *set, uint32_t slot, bool is_member) {
    sched_remove(set, slot);
    set->word[slot / 64] |= (uint64_t)is_member << slot % 64;
}

static inline bool sched_is_empty(const struct sched_set *set) { return (set->word[0] | set->word[1]) == 0; }

static inline uint32_t sched_count(const struct sched_set *set) {
    return (uint32_t)(__builtin_popcountll(set->word[0]) + __builtin_popcountll(set->word[1]));
}

static inline struct sched_set sched_and(const struct sched_set *a, const struct sched_set *b) {
    return (struct sched_set){{a->word[0] & b->word[0], a->word[1] & b->word[1]}};
}

static inline struct sched_set sched_and_not(const struct sched_set *a, const struct sched_set *b) {
    return (struct sched_set){{a->word[0] & ~b->word[0], a->word[1] & ~b->word[1]}};
}

static inline bool sched_intersect(const struct sched_set *a, const struct sched_set *b) {
    struct sched_set both = sched_and(a, b);
    return !sched_is_empty(&both);
}

/* Returns the lowest member, or SCHED_NONE. */
static inline int sched_first(const struct sched_set *set) {
    if (set->word[0])
        return __builtin_ctzll(set->word[0]);
    return set->word[1] ? 64 + __builtin_ctzll(set->word[1]) : SCHED_NONE;
}

/* Returns the first member at or after slot `from`, wrapping around, or SCHED_NONE. `from` may be SCHED_MAX_SLOTS. */
static inline int sched_next(const struct sched_set *set, uint32_t from) {
    if (from < SCHED_MAX_SLOTS) {
        struct sched_set rest = {{0, set->word[1]}};
        if (from < 64)
            rest.word[0] = set->word[0] & ~0ull << from;
        else
            rest.word[1] &= ~0ull << from % 64;
        int slot = sched_first(&rest);
        if (slot != SCHED_NONE)
            return slot;
    }
    return sched_first(set);
}

_Static_assert(SCHED_WORDS == 2, "the functions above name both words");
