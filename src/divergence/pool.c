/* A pool of threads by pc. See pool.h. */
#include "divergence/pool.h"

#include <stdlib.h>
#include <string.h>

void divergence_pool_free(struct divergence_pool *pool) {
    for (uint32_t i = 0; i < pool->n_pcs; i++)
        free(pool->at[i].thread);
    free(pool->at);
    free(pool->has_any);
    *pool = (struct divergence_pool){.at = NULL};
}

void divergence_pool_start(struct divergence_pool *pool, uint32_t n_pcs) {
    divergence_pool_free(pool);
    pool->n_pcs = n_pcs;
    pool->n_words = (n_pcs + 63) / 64;
    pool->at = calloc(n_pcs, sizeof *pool->at);
    pool->has_any = calloc(pool->n_words, sizeof *pool->has_any);
    if (!pool->at || !pool->has_any)
        abort();
}

void divergence_pool_add(struct divergence_pool *pool, uint32_t pc, struct divergence_thread thread) {
    struct divergence_list *list = &pool->at[pc];
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->thread = realloc(list->thread, list->capacity * sizeof *list->thread);
        if (!list->thread)
            abort();
    }
    list->thread[list->count++] = thread;
    pool->has_any[pc / 64] |= 1ull << pc % 64;
    pool->n_threads++;
}

uint32_t divergence_pool_take(struct divergence_pool *pool, uint32_t pc, struct divergence_thread *out, uint32_t most) {
    struct divergence_list *list = &pool->at[pc];
    uint32_t n = list->count < most ? list->count : most;
    if (!n)
        return 0; /* the list may not even have memory */
    memcpy(out, list->thread, n * sizeof *out);
    memmove(list->thread, list->thread + n, (list->count - n) * sizeof *out);
    list->count -= n;
    pool->n_threads -= n;
    if (!list->count)
        pool->has_any[pc / 64] &= ~(1ull << pc % 64);
    return n;
}

uint32_t divergence_pool_lowest(const struct divergence_pool *pool) {
    for (uint32_t i = 0; i < pool->n_words; i++)
        if (pool->has_any[i])
            return i * 64 + (uint32_t)__builtin_ctzll(pool->has_any[i]);
    return EXEC_NO_PC;
}
