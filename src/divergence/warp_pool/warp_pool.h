/* All threads of an SM, in warps: what models share that put threads of any warp and block into one group (dwf, mimd).
 * A warp is a group with at most one thread in each lane. There may be more warps than the SM has slots: those that get
 * none wait in a queue. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/sync.h"
#include "exec/scattered.h"

struct divergence_dynamic_warp {
    struct divergence_group
        group;     /* pc and status are the model's; row, mask and n_threads: divergence_dynamic_warp_show() */
    uint32_t mask; /* lanes that have a thread */
    /* Of those: they wait for others (sync.h). A warp of which all do keeps its slot and has the status WAITS; set free
     * it is to DRAIN. Where only some do, those leave when nothing is under way, or stay (keeps_waiting). */
    uint32_t waits;
    struct exec_threads threads;
    uint32_t pc[EXEC_LANES];               /* of each thread, when they may differ: after control instructions */
    struct divergence_dynamic_warp **list; /* dwf: the list it is in, by its youngest warp; NULL: in none */
    struct divergence_dynamic_warp *older, *younger; /* there */
    uint32_t number;                                 /* in pool->live */
    bool is_together;                                /* dwf: it retires with one pc for all, that of the group */
    bool is_queued;
};

/* Threads of a row that go on at one pc. */
struct divergence_piece {
    struct exec_row *row;
    uint32_t mask, pc;
    uint32_t passed; /* post-dominators */
};

struct divergence_warp_pool {
    struct divergence_setup setup;
    size_t warp_bytes;
    uint32_t all_lanes;                           /* the mask of a full warp */
    bool carries;                                 /* threads take their registers along (scattered.h) */
    bool keeps_waiting;                           /* the others of a warp go on without those that wait */
    const struct divergence_dynamic_warp *acting; /* the one whose control instruction is executed, or was last */
    struct divergence_dynamic_warp **live, **spare;
    uint32_t n_live, n_spare, capacity;
    struct divergence_dynamic_warp **queue; /* a ring of `capacity` */
    uint32_t queue_head, queue_length;
    struct divergence_block **block; /* in execution */
    uint32_t n_blocks, block_capacity;
    struct divergence_piece *loose; /* set free by others, and for the model to take: it sets n_loose to 0 */
    uint32_t n_loose, loose_capacity;
};

struct divergence_warp_pool_block {
    struct divergence_sync *sync;
    uint32_t passed; /* by the last that came to a barrier */
};

/* For n_slots(): groups may be as many as threads, so as many slots as there can be. */
uint32_t divergence_warp_pool_n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                                      uint32_t most_slots);
/* warp_bytes: a model's own struct, whose first member is the warp. */
void divergence_warp_pool_start(struct divergence_warp_pool *pool, const struct divergence_setup *setup,
                                size_t warp_bytes);
void divergence_warp_pool_end(struct divergence_warp_pool *pool);

/* new_block() and free_block() of a model that uses a pool. */
void *divergence_warp_pool_new_block(void *model, const struct exec_cta *cta);
void divergence_warp_pool_free_block(void *model, void *state);
/* A block begins: its rows are in the loose sets. */
void divergence_warp_pool_admit(struct divergence_warp_pool *pool, struct divergence_block *block);

/* A warp without threads; what a model keeps behind the warp (warp_bytes) is what it was. */
struct divergence_dynamic_warp *divergence_warp_pool_new_warp(struct divergence_warp_pool *pool);
/* The warp is the youngest of this list now, and in no other. divergence_warp_pool_leave() takes it out. */
void divergence_dynamic_warp_set_youngest(struct divergence_dynamic_warp *warp, struct divergence_dynamic_warp **list);
/* A warp that runs gets a free slot, that of a warp that waits (which is dissolved), or a place in the queue. Not while
 * the warp whose hook runs has the status WAITS. */
void divergence_warp_pool_enter(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                uint64_t cycle);
/* The warp has lost its last thread. It leaves its slot: by itself, when its own hook runs (is_own). */
void divergence_warp_pool_leave(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp, bool is_own,
                                uint64_t cycle);
/* Slots have become free. */
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

/* Threads of another warp come to this one, that of lane i to at[i], or to the same lane when `at` is NULL. Where they
 * are carried, all of them are at one pc. */
void divergence_dynamic_warp_take(const struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                  const uint8_t *at, struct divergence_dynamic_warp *from, uint32_t mask);
/* Where a thread of this lane may be put: in its own lane, or else in any below n_lanes; -1: nowhere. */
int divergence_dynamic_warp_room(const struct divergence_dynamic_warp *warp, uint32_t lane, uint32_t n_lanes);
void divergence_dynamic_warp_set_pcs(struct divergence_dynamic_warp *warp, uint32_t pc);
/* Makes the group what the SM sees of the warp: lanes of one row, or a number of threads. */
void divergence_dynamic_warp_show(struct divergence_dynamic_warp *warp);
/* The row that these threads are lanes of, each in its own; NULL: not so. */
struct exec_row *divergence_dynamic_warp_row(const struct divergence_dynamic_warp *warp, uint32_t mask);
/* The bundle of the warp's threads in `mask` at bundle->pc, when that is their row. */
void divergence_dynamic_warp_bundle(struct divergence_dynamic_warp *warp, uint32_t mask, struct exec_row *row,
                                    struct exec_context *cx, struct divergence_bundle *bundle);
/* The lowest pc of the warp's threads in `mask`, and which of them are there. */
uint32_t divergence_dynamic_warp_lowest(const struct divergence_dynamic_warp *warp, uint32_t mask, uint32_t *there);
/* Executes the control instruction at pc for the warp's threads in `mask`, of which those in `taken` have a true guard:
 * their pcs are the next ones, ended threads
 * are gone, those that have to wait are in warp->waits. Threads that are in no warp and have been set free by these are
 * in the loose sets. */
void divergence_warp_pool_control(struct divergence_warp_pool *pool, struct divergence_dynamic_warp *warp,
                                  uint32_t mask, uint32_t taken, uint32_t pc, uint64_t cycle);
/* The warp's waiting threads leave it. */
static inline void divergence_dynamic_warp_dismiss(struct divergence_dynamic_warp *warp) {
    warp->mask &= ~warp->waits;
    warp->waits = 0;
}
