/* What waits at each pc: the global pool of odgs, of whose warps that are not full there is at most one for each. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct divergence_odgs_warp;

struct divergence_global_pool {
    struct divergence_odgs_warp **at; /* per pc; NULL: nobody */
    uint64_t *has_any;                /* bit per pc */
    uint32_t n_pcs, n_words;
};

/* Empty, for a program of n_pcs instructions; what it held before is dropped. */
void divergence_global_pool_start(struct divergence_global_pool *pool, uint32_t n_pcs);
void divergence_global_pool_free(struct divergence_global_pool *pool);
/* The lowest pc at which somebody waits, or EXEC_NO_PC. */
uint32_t divergence_global_pool_lowest(const struct divergence_global_pool *pool);

/* It waits at pc, where nobody does. */
static inline void divergence_global_pool_put(struct divergence_global_pool *pool, uint32_t pc,
                                              struct divergence_odgs_warp *warp) {
    pool->at[pc] = warp;
    pool->has_any[pc / 64] |= 1ull << pc % 64;
}

/* What waits at pc, and does not any more. */
static inline struct divergence_odgs_warp *divergence_global_pool_take(struct divergence_global_pool *pool,
                                                                       uint32_t pc) {
    struct divergence_odgs_warp *warp = pool->at[pc];
    pool->at[pc] = NULL;
    pool->has_any[pc / 64] &= ~(1ull << pc % 64);
    return warp;
}
