/* Tag arrays with LRU replacement. Most papers name either LRU or no policy. cacp.c is another policy of the L1. */
#include "mem/cache.h"

#include <assert.h>

void mem_cache_init(struct mem_cache *cache, struct base_arena *arena, uint64_t size_bytes, uint32_t ways,
                    uint32_t line_bytes, uint32_t stride) {
    uint64_t sets = size_bytes / line_bytes / ways / stride;
    assert(sets > 0 && sets * ways < MEM_NONE);
    cache->sets = cache->most_sets = (uint32_t)sets;
    cache->ways = cache->most_ways = ways;
    cache->stride = stride;
    cache->chunk = 1;
    cache->set_mask = (sets & (sets - 1)) == 0 ? (uint32_t)sets - 1 : 0;
    uint32_t slots = mem_cache_slots(cache);
    cache->lines = BASE_ARENA_ARRAY(arena, uint64_t, slots);
    cache->used = BASE_ARENA_ARRAY(arena, uint64_t, slots);
    cache->state = BASE_ARENA_ARRAY(arena, uint8_t, slots);
    cache->is_pinned = BASE_ARENA_ARRAY(arena, uint8_t, slots);
    for (uint32_t i = 0; i < slots; i++)
        cache->lines[i] = MEM_NO_LINE;
}

uint32_t mem_cache_victim(const struct mem_cache *cache, uint64_t line) {
    uint32_t first = mem_cache_set(cache, line) * cache->ways, best = MEM_NONE;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t slot = first; slot < first + cache->ways; slot++) {
        if (cache->lines[slot] == MEM_NO_LINE)
            return slot;
        if (cache->used[slot] < oldest && !cache->is_pinned[slot]) {
            oldest = cache->used[slot];
            best = slot;
        }
    }
    return best;
}

void mem_cache_put(struct mem_cache *cache, uint32_t slot, uint64_t line, enum mem_state state) {
    cache->lines[slot] = line;
    cache->state[slot] = (uint8_t)state;
    cache->is_pinned[slot] = false;
    mem_cache_touch(cache, slot);
}

void mem_cache_drop(struct mem_cache *cache, uint32_t slot) {
    cache->lines[slot] = MEM_NO_LINE;
    cache->state[slot] = MEM_INVALID;
    cache->is_pinned[slot] = false;
}

void mem_cache_resize(struct mem_cache *cache, uint32_t n_lines) {
    assert(n_lines > 0 && n_lines <= cache->most_sets * cache->most_ways);
    for (cache->sets = cache->most_sets; cache->sets > 1; cache->sets /= 2)
        if (n_lines / cache->sets >= (cache->most_ways + 1) / 2)
            break;
    cache->ways = n_lines / cache->sets;
    cache->set_mask = (cache->sets & (cache->sets - 1)) == 0 ? cache->sets - 1 : 0;
}

uint32_t mem_cache_slots(const struct mem_cache *cache) { return cache->sets * cache->ways; }
