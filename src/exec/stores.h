/* Stores that only their own SM sees so far.
 *
 * SMs that run at the same time on several host threads must not see each other's stores in an order that depends on
 * the host. So an SM keeps its stores to global memory here for some cycles (gpu/timed.c), its own loads see them, and
 * exec_stores_apply() puts them into memory when it is the SM's turn.
 *
 * Where stores of several SMs do not meet, their order does not matter: exec_stores_apply_free() may put those into
 * memory on several host threads. For that SMs claim the pieces of memory that they store to. */
#pragma once

#include <stdatomic.h>

#include "exec/exec.h"

struct exec_view;

/* One store instruction. */
struct exec_store {
    uint64_t cycle;
    uint64_t low, high; /* its addresses are in [low, high) */
    size_t data;        /* where its values begin in exec_stores.data; those of lanes: their addresses come first */
    uint32_t mask;      /* the lanes; 0: [low, high) is one piece */
    uint32_t bytes;     /* of a lane */
    bool is_applied;
};

/* Who stores to which pieces of memory: a table that all SMs share. Pieces with the same place in it count as one. */
enum { EXEC_CLAIMS = 1 << 18, EXEC_CLAIM_SM_BITS = 11, EXEC_CLAIM_SMS = (1 << EXEC_CLAIM_SM_BITS) - 1 };
struct exec_claims {
    uint32_t round; /* claims of other rounds do not count */
    atomic_uint claim[EXEC_CLAIMS];
};

enum { EXEC_STORES_BITS = 1 << 15, EXEC_STORES_MOST_BYTES = 32 };

struct exec_stores {
    struct exec_claims *claims; /* NULL: stores are only applied in turn */
    uint32_t sm;
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
/* Writes to memory the stores that neither meet another SM's nor come after one that does. Several threads may do so at
 * once, for different SMs, when no SM stores any more. */
void exec_stores_apply_free(struct exec_stores *stores, const struct exec_memory *memory);
/* All have been put into memory. */
void exec_stores_forget(struct exec_stores *stores);
