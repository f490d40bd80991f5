/* Miss status holding registers: the lines in flight and the accesses that wait for each. */
#include "mem/mshr.h"

void mem_lines_init(struct mem_lines *lines, struct base_arena *arena, uint32_t n) {
    uint32_t bits = 1;
    while (UINT64_C(1) << bits < 2 * (uint64_t)n)
        bits++;
    uint32_t buckets = UINT32_C(1) << bits;
    lines->n = n;
    lines->n_used = 0;
    lines->hash_shift = 64 - bits;
    lines->line = BASE_ARENA_ARRAY(arena, uint64_t, n);
    lines->next = BASE_ARENA_ARRAY(arena, uint32_t, n);
    lines->bucket = BASE_ARENA_ARRAY(arena, uint32_t, buckets);
    for (uint32_t i = 0; i < buckets; i++)
        lines->bucket[i] = MEM_NONE;
    lines->free = n > 0 ? 0 : MEM_NONE;
    for (uint32_t i = 0; i < n; i++) {
        lines->line[i] = MEM_NO_LINE;
        lines->next[i] = i + 1 < n ? i + 1 : MEM_NONE;
    }
}

/* More than the accesses that an SM has in flight, each with a line for every lane. */
enum { MOST_WAITERS = 1 << 16 };

void mem_mshrs_init(struct mem_mshrs *mshrs, struct base_arena *arena, uint32_t n, uint32_t merges) {
    mem_lines_init(&mshrs->lines, arena, n);
    mshrs->mshr = BASE_ARENA_ARRAY(arena, struct mem_mshr, n);
    mshrs->merges = merges;
    mshrs->most_waiters = (uint64_t)n * merges < MOST_WAITERS ? n * merges : MOST_WAITERS;
    mshrs->waiters = BASE_ARENA_ARRAY(arena, struct mem_waiter, mshrs->most_waiters);
    mshrs->free_waiter = MEM_NONE;
    mshrs->n_touched = 0;
}
