/* Stores that only their own SM can see so far.
 *
 * SMs that run at the same time on several host threads must not see each other's stores in an order that depends on
 * the host. So an SM keeps its stores to global memory here for some cycles (gpu/timed.c). Its own loads see them.
 * exec_stores_apply() writes them to memory when it is the SM's turn.
 *
 * If the stores of several SMs do not overlap, their order does not matter, and exec_stores_apply_free() may write them
 * to memory on several host threads. For this purpose SMs claim the chunks of memory that they store to. */
#pragma once

#include <stdatomic.h>

#include "exec/exec.h"

struct exec_view;

/* One store instruction. */
struct exec_store {
    uint64_t cycle;
    uint64_t low, high; /* its addresses are in [low, high) */
    size_t data;        /* index of its values in exec_stores.data; with a mask, the lanes' addresses come first */
    uint32_t mask;      /* the lanes; 0: [low, high) is one chunk */
    uint32_t bytes;     /* of a lane */
    bool is_applied;
};

/* Which SM stores to which chunks of memory: one table for all SMs. Chunks with the same entry in it count as one. */
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
    uint64_t filter[EXEC_STORES_BITS / 64]; /* a bit for each chunk of memory that a store may have touched */
    unsigned char seen[EXEC_LANES * EXEC_STORES_MOST_BYTES]; /* values of a load, for lanes that stores touched */
};

void exec_stores_free(struct exec_stores *stores);
static inline bool exec_stores_are_pending(const struct exec_stores *stores) { return stores->n_applied < stores->n; }
/* Directs a store to global memory to its buffer here, and a load to the values that the SM sees. is_global: the lanes
 * of cx->address that are in global memory. */
void exec_stores_view(struct exec_context *cx, uint32_t mask, uint32_t is_global, unsigned bytes, bool is_write,
                      struct exec_view *view);
/* Writes the stores up to this cycle to memory. */
void exec_stores_apply(struct exec_stores *stores, const struct exec_memory *memory, uint64_t cycle);
/* Writes the stores to memory that neither overlap another SM's nor come after one that does. Several threads may do so
 * at once, for different SMs, when no SM stores any more. */
void exec_stores_apply_free(struct exec_stores *stores, const struct exec_memory *memory);
/* Discards the stores, which have all been written to memory. */
void exec_stores_forget(struct exec_stores *stores);
