/* Stores that only their own SM sees so far.
 *
 * SMs that run at the same time on several host threads must not see each other's stores in an order that depends on
 * the host. So an SM keeps its stores to global memory here for some cycles (gpu/timed.c), its own loads see them, and
 * exec_stores_apply() puts them into memory when it is the SM's turn. */
#pragma once

#include "exec/exec.h"

struct exec_view;

/* One store instruction. */
struct exec_store {
    uint64_t cycle;
    uint64_t low, high; /* its addresses are in [low, high) */
    size_t data;        /* where its values begin in exec_stores.data; those of lanes: their addresses come first */
    uint32_t mask;      /* the lanes; 0: [low, high) is one piece */
    uint32_t bytes;     /* of a lane */
};

enum { EXEC_STORES_BITS = 1 << 15, EXEC_STORES_MOST_BYTES = 32 };

struct exec_stores {
    uint32_t n, n_applied, capacity;
    struct exec_store *store; /* in the order of execution */
    unsigned char *data;
    size_t n_data, data_capacity;
    uint64_t filter[EXEC_STORES_BITS / 64]; /* a bit for each piece of memory that a store may have touched */
    unsigned char seen[EXEC_LANES * EXEC_STORES_MOST_BYTES]; /* what a load sees, for lanes that stores have touched */
};

void exec_stores_free(struct exec_stores *stores);
static inline bool exec_stores_are_pending(const struct exec_stores *stores) { return stores->n_applied < stores->n; }
/* Makes the view of a store to global memory one of its place here, and that of a load one of what the SM sees.
 * is_global: the lanes of cx->address that are in global memory. */
void exec_stores_view(struct exec_context *cx, uint32_t mask, uint32_t is_global, unsigned bytes, bool is_write,
                      struct exec_view *view);
/* Puts the stores up to this cycle into memory. */
void exec_stores_apply(struct exec_stores *stores, const struct exec_memory *memory, uint64_t cycle);
/* All have been put into memory. */
void exec_stores_forget(struct exec_stores *stores);
