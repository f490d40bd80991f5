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

/* Returns the stamp of the last use of a tag's lines: 0 if there are none, UINT64_MAX if one is pinned. Sets
 * `is_of_line` if they are of the same tag as the line. */
static uint64_t tag_used(const struct mem_cache *cache, uint32_t first, uint64_t line, bool *is_of_line) {
    uint64_t used = 0;
    *is_of_line = false;
    for (uint32_t slot = first; slot < first + (1u << cache->tag_bits); slot++) {
        if (cache->lines[slot] == MEM_NO_LINE)
            continue;
        *is_of_line |= cache->lines[slot] >> cache->tag_bits == line >> cache->tag_bits;
        uint64_t last = cache->is_pinned[slot] ? UINT64_MAX : cache->used[slot] + 1;
        used = last > used ? last : used;
    }
    return used;
}

/* Chooses among tags. A random choice starts at any tag and takes the first that is not pinned. */
static uint32_t victim_tag(const struct mem_cache *cache, uint64_t line) {
    uint32_t first = mem_cache_set(cache, line) * cache->ways, step = 1u << cache->tag_bits, n = cache->ways / step;
    uint32_t start = cache->is_random ? (uint32_t)((cache->stamp * UINT64_C(0x9E3779B97F4A7C15) >> 32) * n >> 32) : 0;
    uint32_t best = MEM_NONE, offset = (uint32_t)line & (step - 1);
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = first + (start + i < n ? start + i : start + i - n) * step;
        bool is_of_line;
        uint64_t used = tag_used(cache, slot, line, &is_of_line);
        if (is_of_line)
            return slot + offset;
        if (used < oldest && !(cache->is_random && best != MEM_NONE && used)) {
            oldest = used;
            best = slot + offset;
        }
    }
    return best;
}

/* Returns the least recently used slot of a set that is not pinned, or MEM_NONE. */
static __attribute__((noinline)) uint32_t unpinned_victim(const struct mem_cache *cache, uint32_t first) {
    uint32_t best = MEM_NONE;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t slot = first; slot < first + cache->ways; slot++)
        if (cache->used[slot] < oldest && !cache->is_pinned[slot]) {
            oldest = cache->used[slot];
            best = slot;
        }
    return best;
}

uint32_t mem_cache_victim(const struct mem_cache *cache, uint64_t line) {
    if (cache->tag_bits || cache->is_random)
        return victim_tag(cache, line);
    uint32_t first = mem_cache_set(cache, line) * cache->ways, best = 0;
    const uint64_t *used = &cache->used[first];
    uint64_t oldest = used[0];
    for (uint32_t way = 1; way < cache->ways; way++) { /* the first empty one, if there is any: never used */
        best = used[way] < oldest ? way : best;
        oldest = used[way] < oldest ? used[way] : oldest;
    }
    return cache->is_pinned[first + best] ? unpinned_victim(cache, first) : first + best;
}

void mem_cache_put(struct mem_cache *cache, uint32_t slot, uint64_t line, enum mem_state state) {
    cache->lines[slot] = line;
    cache->state[slot] = (uint8_t)state;
    cache->is_pinned[slot] = false;
    mem_cache_touch(cache, slot);
}

void mem_cache_drop(struct mem_cache *cache, uint32_t slot) {
    cache->lines[slot] = MEM_NO_LINE;
    cache->used[slot] = 0;
    cache->state[slot] = MEM_INVALID;
    cache->is_pinned[slot] = false;
}

void mem_cache_resize(struct mem_cache *cache, uint32_t n_lines) {
    assert(n_lines > 0 && n_lines <= cache->most_sets * cache->most_ways);
    for (cache->sets = cache->most_sets; cache->sets > 1; cache->sets /= 2)
        if (n_lines / cache->sets >= (cache->most_ways + 1) / 2)
            break;
    cache->ways = n_lines / cache->sets >> cache->tag_bits << cache->tag_bits;
    cache->ways = cache->ways ? cache->ways : 1u << cache->tag_bits;
    cache->set_mask = (cache->sets & (cache->sets - 1)) == 0 ? cache->sets - 1 : 0;
}

uint32_t mem_cache_slots(const struct mem_cache *cache) { return cache->sets * cache->ways; }
