/* Lines with work in progress, found by line number: the MSHRs of the L1s and the entries of the L2 banks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/events.h"

/* A fixed set of entries, chained by a hash of their line. */
struct mem_lines {
    uint64_t *line; /* of each entry, MEM_NO_LINE when it is free */
    uint32_t *next; /* in the hash chain or the free list */
    uint32_t *bucket;
    uint32_t n, n_used, free, hash_shift;
};

void mem_lines_init(struct mem_lines *lines, struct base_arena *arena, uint32_t n);
uint32_t mem_lines_find(const struct mem_lines *lines, uint64_t line); /* MEM_NONE: the line has no entry */
uint32_t mem_lines_take(struct mem_lines *lines, uint64_t line);       /* MEM_NONE: all entries are in use */
void mem_lines_release(struct mem_lines *lines, uint32_t entry);

/* One access that waits for a line. */
struct mem_waiter {
    uint32_t token, next;
    bool is_write;
};

struct mem_mshr {
    uint32_t first, last, n_waiters;
    uint32_t message_type; /* of the request: READ or OWN */
};

struct mem_mshrs {
    struct mem_lines lines;
    struct mem_mshr *mshr;
    struct mem_waiter *waiters;
    uint32_t free_waiter, merges;
};

void mem_mshrs_init(struct mem_mshrs *mshrs, struct base_arena *arena, uint32_t n, uint32_t merges);
uint32_t mem_mshrs_take(struct mem_mshrs *mshrs, uint64_t line);
/* Adds a waiter; returns false when the MSHR is full. */
bool mem_mshrs_wait(struct mem_mshrs *mshrs, uint32_t id, uint32_t token, bool is_write);
/* Removes the oldest waiter; returns false when none is left. */
bool mem_mshrs_next(struct mem_mshrs *mshrs, uint32_t id, struct mem_waiter *waiter);
