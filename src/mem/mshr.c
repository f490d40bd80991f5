/* Miss status holding registers: the lines in flight and the accesses that wait for each. */
#include "mem/mshr.h"

#include <assert.h>

#include "mem/cache.h"

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

/* Multiplicative hashing: 2^64 divided by the golden ratio spreads neighbouring lines. */
static uint32_t *bucket_of(const struct mem_lines *lines, uint64_t line) {
    return &lines->bucket[line * UINT64_C(0x9E3779B97F4A7C15) >> lines->hash_shift];
}

uint32_t mem_lines_find(const struct mem_lines *lines, uint64_t line) {
    uint32_t entry = *bucket_of(lines, line);
    while (entry != MEM_NONE && lines->line[entry] != line)
        entry = lines->next[entry];
    return entry;
}

uint32_t mem_lines_take(struct mem_lines *lines, uint64_t line) {
    uint32_t entry = lines->free;
    if (entry == MEM_NONE)
        return MEM_NONE;
    uint32_t *bucket = bucket_of(lines, line);
    lines->free = lines->next[entry];
    lines->line[entry] = line;
    lines->next[entry] = *bucket;
    *bucket = entry;
    lines->n_used++;
    return entry;
}

void mem_lines_release(struct mem_lines *lines, uint32_t entry) {
    uint32_t *link = bucket_of(lines, lines->line[entry]);
    while (*link != entry)
        link = &lines->next[*link];
    *link = lines->next[entry];
    lines->line[entry] = MEM_NO_LINE;
    lines->next[entry] = lines->free;
    lines->free = entry;
    lines->n_used--;
}

void mem_mshrs_init(struct mem_mshrs *mshrs, struct base_arena *arena, uint32_t n, uint32_t merges) {
    mem_lines_init(&mshrs->lines, arena, n);
    mshrs->mshr = BASE_ARENA_ARRAY(arena, struct mem_mshr, n);
    uint32_t n_waiters = n * merges;
    mshrs->merges = merges;
    mshrs->waiters = BASE_ARENA_ARRAY(arena, struct mem_waiter, n_waiters);
    for (uint32_t i = 0; i < n_waiters; i++)
        mshrs->waiters[i].next = i + 1 < n_waiters ? i + 1 : MEM_NONE;
    mshrs->free_waiter = n_waiters > 0 ? 0 : MEM_NONE;
}

uint32_t mem_mshrs_take(struct mem_mshrs *mshrs, uint64_t line) {
    uint32_t id = mem_lines_take(&mshrs->lines, line);
    if (id != MEM_NONE)
        mshrs->mshr[id] = (struct mem_mshr){.first = MEM_NONE, .last = MEM_NONE};
    return id;
}

bool mem_mshrs_wait(struct mem_mshrs *mshrs, uint32_t id, uint32_t token, bool is_write) {
    struct mem_mshr *mshr = &mshrs->mshr[id];
    if (mshr->n_waiters == mshrs->merges)
        return false;
    uint32_t waiter = mshrs->free_waiter;
    assert(waiter != MEM_NONE);
    mshrs->free_waiter = mshrs->waiters[waiter].next;
    mshrs->waiters[waiter] = (struct mem_waiter){token, MEM_NONE, is_write};
    if (mshr->first == MEM_NONE)
        mshr->first = waiter;
    else
        mshrs->waiters[mshr->last].next = waiter;
    mshr->last = waiter;
    mshr->n_waiters++;
    return true;
}

bool mem_mshrs_next(struct mem_mshrs *mshrs, uint32_t id, struct mem_waiter *waiter) {
    struct mem_mshr *mshr = &mshrs->mshr[id];
    uint32_t first = mshr->first;
    if (first == MEM_NONE)
        return false;
    *waiter = mshrs->waiters[first];
    mshr->first = waiter->next;
    mshr->n_waiters--;
    mshrs->waiters[first].next = mshrs->free_waiter;
    mshrs->free_waiter = first;
    return true;
}
