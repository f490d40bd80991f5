/* A tag array: sets, ways, least recently used replacement, one state byte per line. L1s, instruction caches and L2
 * banks use it and define the meaning of the states. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/events.h"

/* Without coherence a clean line is SHARED and a dirty one MODIFIED. */
enum mem_state { MEM_INVALID, MEM_SHARED, MEM_EXCLUSIVE, MEM_MODIFIED };
#define MEM_NO_LINE UINT64_MAX

struct mem_cache {
    uint64_t *lines; /* the line number of each slot (set * ways + way), MEM_NO_LINE when empty */
    uint64_t *used;  /* stamp of the last use; 0 when the slot is empty */
    uint8_t *state;  /* enum mem_state */
    uint8_t *is_pinned;
    uint64_t stamp;
    uint32_t sets, ways;
    uint32_t most_sets, most_ways; /* the allocated size: mem_cache_resize() */
    uint32_t
        stride;     /* number of banks that lines are interleaved over: this one holds every stride-th chunk of lines */
    uint32_t chunk; /* lines of a chunk */
    uint32_t set_mask; /* sets - 1 where sets is a power of two, otherwise 0 */
    uint32_t
        tag_bits; /* 2^tag_bits lines share a tag: line n is in the slot of its tag's with the number n mod these */
    bool is_hashed, is_random;
};

void mem_cache_init(struct mem_cache *cache, struct base_arena *arena, uint64_t size_bytes, uint32_t ways,
                    uint32_t line_bytes, uint32_t stride);

/* Folds the tag's number, so that the tags of an aligned range, and those at a distance of a power of two, are evenly
 * spread over the sets. */
static inline uint32_t mem_cache_hashed_set(const struct mem_cache *cache, uint64_t line) {
    uint64_t tag = line >> cache->tag_bits, set_bits = (uint64_t)__builtin_popcount(cache->set_mask), folded = 0;
    for (; tag; tag >>= set_bits)
        folded ^= tag;
    return (uint32_t)folded & cache->set_mask;
}

static inline uint32_t mem_cache_set(const struct mem_cache *cache, uint64_t line) {
    if (cache->is_hashed && cache->set_mask)
        return mem_cache_hashed_set(cache, line);
    uint64_t place = cache->stride == 1  ? line
                     : cache->chunk == 1 ? line / cache->stride
                                         : line / cache->chunk / cache->stride * cache->chunk + line % cache->chunk;
    return (uint32_t)(cache->set_mask ? place & cache->set_mask : place % cache->sets);
}

/* Returns the slot that holds the line, or MEM_NONE. */
static inline uint32_t mem_cache_find(const struct mem_cache *cache, uint64_t line) {
    const uint64_t *at = &cache->lines[mem_cache_set(cache, line) * cache->ways], *end = at + cache->ways;
    uint32_t step = 1u << cache->tag_bits;
    for (at += line & (step - 1); at < end; at += step)
        if (*at == line)
            return (uint32_t)(at - cache->lines);
    return MEM_NONE;
}

static inline void mem_cache_touch(struct mem_cache *cache, uint32_t slot) { cache->used[slot] = ++cache->stamp; }

/* Returns the slot to put the line in: an empty slot of its set, otherwise the least recently used one that is not
 * pinned, otherwise MEM_NONE. If lines share tags, it is the slot beside other lines of the line's tag, otherwise one
 * of a tag that the caller must drop (mem_cache_tag_slots()). */
uint32_t mem_cache_victim(const struct mem_cache *cache, uint64_t line);
void mem_cache_put(struct mem_cache *cache, uint32_t slot, uint64_t line, enum mem_state state);
/* Shrinks an empty cache to this many lines, rounded down to whole ways: it gets fewer ways, and half the sets if less
 * than half of the ways would be left. */
void mem_cache_resize(struct mem_cache *cache, uint32_t n_lines);
/* Returns the first of the slots that share a tag with this one. */
static inline uint32_t mem_cache_tag_slots(const struct mem_cache *cache, uint32_t slot) {
    return slot >> cache->tag_bits << cache->tag_bits;
}
void mem_cache_drop(struct mem_cache *cache, uint32_t slot);
uint32_t mem_cache_slots(const struct mem_cache *cache);
