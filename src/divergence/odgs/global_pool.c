/* The warps that wait at each pc. See global_pool.h. */
#include "divergence/odgs/global_pool.h"

#include <stdlib.h>

#include "base/memory.h"
#include "exec/exec.h"

void divergence_global_pool_free(struct divergence_global_pool *pool) {
    free(pool->at);
    free(pool->has_any);
    *pool = (struct divergence_global_pool){.at = NULL};
}

void divergence_global_pool_start(struct divergence_global_pool *pool, uint32_t n_pcs) {
    divergence_global_pool_free(pool);
    pool->n_pcs = n_pcs;
    pool->n_words = (n_pcs + 63) / 64;
    pool->at = base_allocate(n_pcs, sizeof(struct divergence_odgs_warp *));
    pool->has_any = base_allocate(pool->n_words, sizeof *pool->has_any);
}

uint32_t divergence_global_pool_lowest(const struct divergence_global_pool *pool) {
    for (uint32_t i = 0; i < pool->n_words; i++)
        if (pool->has_any[i])
            return i * 64 + (uint32_t)__builtin_ctzll(pool->has_any[i]);
    return EXEC_NO_PC;
}
