/* A warp pool: all threads of an SM, in dynamic warps, for models that put threads of any warp and block into one group
 * (dwf, mimd). A dynamic warp is a group with at most one thread in each lane. If there are more warps than slots, the
 * rest wait in a queue. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/sync.h"
#include "exec/scattered.h"

struct divergence_dynamic_warp {
    /* The model sets pc and status; divergence_dynamic_warp_show() sets row, mask and n_threads. */
    struct divergence_group group;
    uint32_t mask; /* lanes that have a thread */
    /* Lanes that wait for other threads (sync.h). A warp in which all lanes wait keeps its slot and has the status
     * WAITS. When a barrier releases it, it drains. If only some lanes wait, they leave the warp when nothing of it is
     * in flight, or stay in it (keeps_waiting). */
    uint32_t waits;
    struct exec_threads threads;
    uint32_t pc[EXEC_LANES];               /* of each thread, when they may differ: after control instructions */
    struct divergence_dynamic_warp **list; /* dwf: the list it is in, which begins with its youngest warp; NULL: none */
    struct divergence_dynamic_warp *older, *younger; /* in that list */
    uint32_t number;                                 /* in pool->live */
    bool is_together; /* dwf: it retires with one pc for all threads, that of the group */
    bool is_diverged; /* dwf: its threads have diverged since they began, or since a barrier */
    bool is_queued;
};

/* Loose threads: lanes of a row that continue at one pc and are in no warp. */
struct divergence_loose {
    struct exec_row *row;
    uint32_t mask, pc;
    uint32_t passed; /* post-dominators */
};

struct divergence_warp_pool {
    struct divergence_setup setup;
    size_t warp_bytes;
    uint32_t all_lanes;                           /* the mask of a full warp */
    bool carries;                                 /* threads carry their registers (scattered.h) */
    bool keeps_waiting;                           /* threads of a warp continue without those that wait */
    const struct divergence_dynamic_warp *acting; /* the warp that executes a control instruction, or did last */
    struct divergence_dynamic_warp **live, **spare;
    uint32_t n_live, n_spare, capacity;
    struct divergence_dynamic_warp **queue; /* a ring of `capacity` */
    uint32_t queue_head, queue_length;
    struct divergence_block **block; /* in execution */
    uint32_t n_blocks, block_capacity;
    struct divergence_loose *loose; /* the model takes them, and sets n_loose to 0 */
    uint32_t n_loose, loose_capacity;
};

struct divergence_warp_pool_block {
    struct divergence_sync *sync;
    uint32_t passed; /* post-dominators that the last warp at a barrier had passed */
};

/* For n_slots(): there may be as many groups as threads, so the model asks for all slots that the SM can have. */
uint32_t divergence_warp_pool_n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                                      uint32_t most_slots);
/* warp_bytes: the size of the model's own struct, whose first member is the warp. */
void divergence_warp_pool_start(struct divergence_warp_pool *pool, const struct divergence_setup *setup,
                                size_t warp_bytes);
void divergence_warp_pool_end(struct divergence_warp_pool *pool);

/* new_block() and free_block() of a model that uses a pool. */
void *divergence_warp_pool_new_block(void *model, const struct exec_cta *cta);
void divergence_warp_pool_free_block(void *model, void *state);
/* A block begins: the threads of its rows become loose. */
void divergence_warp_pool_admit(struct divergence_warp_pool *pool, struct divergence_block *block);

/* Returns a warp without threads. Members that the model adds after the warp (warp_bytes) keep their values. */
struct divergence_dynamic_warp *divergence_warp_pool_new_warp(struct divergence_warp_pool *pool);
/* Makes the warp the youngest of this list and removes it from any other. divergence_warp_pool_leave() removes it from
 * this one. */
void divergence_dynamic_warp_set_youngest(struct divergence_dynamic_warp *warp, struct divergence_dynamic_warp **list);
/* A warp that runs takes a free slot, or the slot of a warp that waits (which is dissolved), or queues. Must not be
 * called while the warp whose hook runs has the status WAITS. */
void divergence_warp_pool_enter(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                uint64_t cycle);
/* The warp has lost its last thread and leaves its slot. is_own: its own hook runs, so the SM removes it. */
void divergence_warp_pool_leave(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp, bool is_own,
                                uint64_t cycle);
/* Slots have become free: queued warps take them. */
void divergence_warp_pool_refill(struct divergence_warp_pool *pool, uint64_t cycle);
void divergence_warp_pool_visit(const struct divergence_warp_pool *pool, const struct divergence_block *block,
                                void (*thread)(void *user, const struct divergence_group *group,
                                               const struct exec_row *row, uint32_t lane),
                                void *user);

static inline void divergence_dynamic_warp_put(struct divergence_dynamic_warp *warp, uint32_t at, struct exec_row *row,
                                               uint32_t lane, uint32_t pc) {
    warp->mask |= 1u << at;
    exec_threads_put(&warp->threads, at, row, lane);
    warp->pc[at] = pc;
}

/* Moves threads of another warp to this one: from lane i to lane at[i], or to the same lane if `at` is NULL. Threads
 * that carry their registers must all be at one pc. */
void divergence_dynamic_warp_take(const struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                  const uint8_t *at, struct divergence_dynamic_warp *from, uint32_t mask);
/* Returns a free lane for a thread of this lane: the same one, otherwise any below n_lanes; -1: none is free. */
int divergence_dynamic_warp_room(const struct divergence_dynamic_warp *warp, uint32_t lane, uint32_t n_lanes);
void divergence_dynamic_warp_set_pcs(struct divergence_dynamic_warp *warp, uint32_t pc);
/* Shows the SM the warp's threads, in its group: lanes of one row, or a number of threads. */
void divergence_dynamic_warp_show(struct divergence_dynamic_warp *warp);
/* Returns the row of these threads if each is in its own lane; NULL: they are not all of one row, or not in place. */
struct exec_row *divergence_dynamic_warp_row(const struct divergence_dynamic_warp *warp, uint32_t mask);
/* Fills in the bundle of the warp's threads in `mask`, at bundle->pc; `row` is divergence_dynamic_warp_row(). */
void divergence_dynamic_warp_bundle(struct divergence_dynamic_warp *warp, uint32_t mask, struct exec_row *row,
                                    struct exec_context *cx, struct divergence_bundle *bundle);
/* Returns the lowest pc of the warp's threads in `mask`, and in *there which of them are at it. */
uint32_t divergence_dynamic_warp_lowest(const struct divergence_dynamic_warp *warp, uint32_t mask, uint32_t *there);
/* Executes the control instruction at pc for the warp's threads in `mask`; the guard is true for those in `taken`.
 * Afterwards warp->pc holds their next pcs, ended threads have left the warp, and threads that wait are in warp->waits.
 * Threads that no longer wait and are in no warp have become loose. */
void divergence_warp_pool_control(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                  uint32_t mask, uint32_t taken, uint32_t pc, uint64_t cycle);
/* The warp's waiting threads leave it. */
static inline void divergence_dynamic_warp_dismiss(struct divergence_dynamic_warp *warp) {
    warp->mask &= ~warp->waits;
    warp->waits = 0;
}
