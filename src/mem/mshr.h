/* Lines with work under way, found by line number: the heart of the L1s' MSHRs and of the L2 banks' entries. */
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
uint32_t mem_lines_find(const struct mem_lines *lines, uint64_t line); /* MEM_NONE: not there */
uint32_t mem_lines_take(struct mem_lines *lines, uint64_t line);       /* MEM_NONE: all are used */
void mem_lines_release(struct mem_lines *lines, uint32_t entry);

/* One access that waits for a line. */
struct mem_waiter {
    uint32_t token, next;
    bool is_write;
};

struct mem_mshr {
    uint32_t first, last, n_waiters;
    uint32_t message_type; /* what was sent for it: READ or OWN */
};

struct mem_mshrs {
    struct mem_lines lines;
    struct mem_mshr *mshr;
    struct mem_waiter *waiters;
    uint32_t free_waiter, merges;
};

void mem_mshrs_init(struct mem_mshrs *mshrs, struct base_arena *arena, uint32_t n, uint32_t merges);
uint32_t mem_mshrs_take(struct mem_mshrs *mshrs, uint64_t line);
/* False: as many accesses wait for the line as its MSHR can hold. */
bool mem_mshrs_wait(struct mem_mshrs *mshrs, uint32_t id, uint32_t token, bool is_write);
/* Removes the oldest waiter; false when none is left. */
bool mem_mshrs_next(struct mem_mshrs *mshrs, uint32_t id, struct mem_waiter *waiter);
