/* The global pool of odgs: the incomplete warp that waits at each pc, at most one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct divergence_odgs_warp;

struct divergence_global_pool {
    struct divergence_odgs_warp **at; /* per pc; NULL: none waits there */
    uint64_t *has_any;                /* a bit per pc */
    uint32_t n_pcs, n_words;
};

/* Empties the pool, for a program of n_pcs instructions. */
void divergence_global_pool_start(struct divergence_global_pool *pool, uint32_t n_pcs);
void divergence_global_pool_free(struct divergence_global_pool *pool);
/* Returns the lowest pc at which a warp waits, or EXEC_NO_PC. */
uint32_t divergence_global_pool_lowest(const struct divergence_global_pool *pool);

/* The warp waits at pc, where none does. */
static inline void divergence_global_pool_put(struct divergence_global_pool *pool, uint32_t pc,
                                              struct divergence_odgs_warp *warp) {
    pool->at[pc] = warp;
    pool->has_any[pc / 64] |= 1ull << pc % 64;
}

/* Returns the warp that waits at pc, and takes it out. */
static inline struct divergence_odgs_warp *divergence_global_pool_take(struct divergence_global_pool *pool,
                                                                       uint32_t pc) {
    struct divergence_odgs_warp *warp = pool->at[pc];
    pool->at[pc] = NULL;
    pool->has_any[pc / 64] &= ~(1ull << pc % 64);
    return warp;
}
