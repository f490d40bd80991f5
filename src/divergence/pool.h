/* Threads that wait to be put into groups, by their next pc: the global pool of odgs. Lists grow and never shrink. */
#pragma once

#include "exec/exec.h"

struct divergence_thread {
    struct exec_row *row;
    uint8_t lane;
    uint16_t sm; /* where it ran last */
};

struct divergence_pool {
    struct divergence_list {
        struct divergence_thread *thread;
        uint32_t count, capacity;
    } * at;            /* per pc */
    uint64_t *has_any; /* bit per pc */
    uint32_t n_pcs, n_words, n_threads;
};

/* Empty, for a program of n_pcs instructions; what it held before is dropped. */
void divergence_pool_start(struct divergence_pool *pool, uint32_t n_pcs);
void divergence_pool_free(struct divergence_pool *pool);
void divergence_pool_add(struct divergence_pool *pool, uint32_t pc, struct divergence_thread thread);
/* Takes up to `most` threads at pc, those that wait longest first; the number taken. */
uint32_t divergence_pool_take(struct divergence_pool *pool, uint32_t pc, struct divergence_thread *out, uint32_t most);
/* The lowest pc at which somebody waits, or EXEC_NO_PC. */
uint32_t divergence_pool_lowest(const struct divergence_pool *pool);
