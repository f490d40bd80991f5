/* Lines with work in progress, found by line number: the MSHRs of the L1s and the entries of the L2 banks. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/cache.h"
#include "mem/events.h"

/* A fixed set of entries, chained by a hash of their line. */
struct mem_lines {
    uint64_t *line; /* of each entry, MEM_NO_LINE when it is free */
    uint32_t *next; /* in the hash chain or the free list */
    uint32_t *bucket;
    uint32_t n, n_used, free, hash_shift;
};

void mem_lines_init(struct mem_lines *lines, struct base_arena *arena, uint32_t n);

/* Multiplicative hashing: 2^64 divided by the golden ratio spreads neighbouring lines. */
static inline uint32_t *mem_lines_bucket(const struct mem_lines *lines, uint64_t line) {
    return &lines->bucket[line * UINT64_C(0x9E3779B97F4A7C15) >> lines->hash_shift];
}

/* Returns MEM_NONE if the line has no entry. */
static inline uint32_t mem_lines_find(const struct mem_lines *lines, uint64_t line) {
    uint32_t entry = *mem_lines_bucket(lines, line);
    while (entry != MEM_NONE && lines->line[entry] != line)
        entry = lines->next[entry];
    return entry;
}

/* Returns MEM_NONE if all entries are in use. */
static inline uint32_t mem_lines_take(struct mem_lines *lines, uint64_t line) {
    uint32_t entry = lines->free;
    if (entry == MEM_NONE)
        return MEM_NONE;
    uint32_t *bucket = mem_lines_bucket(lines, line);
    lines->free = lines->next[entry];
    lines->line[entry] = line;
    lines->next[entry] = *bucket;
    *bucket = entry;
    lines->n_used++;
    return entry;
}

static inline void mem_lines_release(struct mem_lines *lines, uint32_t entry) {
    uint32_t *link = mem_lines_bucket(lines, lines->line[entry]);
    while (*link != entry)
        link = &lines->next[*link];
    *link = lines->next[entry];
    lines->line[entry] = MEM_NO_LINE;
    lines->next[entry] = lines->free;
    lines->free = entry;
    lines->n_used--;
}

/* One access that waits for a line. */
struct mem_waiter {
    uint32_t token, next;
    bool is_write;
};

struct mem_mshr {
    uint32_t first, last, n_waiters;
    uint16_t message_type; /* of the request: READ or OWN */
    bool is_kept;          /* the line goes into the cache */
    uint8_t signature;     /* of the access that asked for it (cacp.h) */
};

struct mem_mshrs {
    struct mem_lines lines;
    struct mem_mshr *mshr;
    struct mem_waiter *waiters;
    uint32_t merges, most_waiters; /* of a line, and of all of them */
    uint32_t free_waiter;          /* list of those that were used before */
    uint32_t n_touched; /* later waiters have not been used yet, so the host has not allocated their memory */
};

void mem_mshrs_init(struct mem_mshrs *mshrs, struct base_arena *arena, uint32_t n, uint32_t merges);

static inline uint32_t mem_mshrs_take(struct mem_mshrs *mshrs, uint64_t line) {
    uint32_t id = mem_lines_take(&mshrs->lines, line);
    if (id != MEM_NONE)
        mshrs->mshr[id] = (struct mem_mshr){.first = MEM_NONE, .last = MEM_NONE};
    return id;
}

/* Adds a waiter. Returns false if the MSHR is full or all waiters are in use. */
static inline bool mem_mshrs_wait(struct mem_mshrs *mshrs, uint32_t id, uint32_t token, bool is_write) {
    struct mem_mshr *mshr = &mshrs->mshr[id];
    if (mshr->n_waiters == mshrs->merges)
        return false;
    uint32_t waiter = mshrs->free_waiter;
    if (waiter != MEM_NONE)
        mshrs->free_waiter = mshrs->waiters[waiter].next;
    else if (mshrs->n_touched < mshrs->most_waiters)
        waiter = mshrs->n_touched++;
    else
        return false;
    mshrs->waiters[waiter] = (struct mem_waiter){token, MEM_NONE, is_write};
    if (mshr->first == MEM_NONE)
        mshr->first = waiter;
    else
        mshrs->waiters[mshr->last].next = waiter;
    mshr->last = waiter;
    mshr->n_waiters++;
    return true;
}

/* Removes the oldest waiter. Returns false if none is left. */
static inline bool mem_mshrs_next(struct mem_mshrs *mshrs, uint32_t id, struct mem_waiter *waiter) {
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
