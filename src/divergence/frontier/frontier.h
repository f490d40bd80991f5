/* Warps without a stack, in which each lane has its own pc. multi-pc and interweave share this code. A context is the
 * lanes of a warp at one pc. The contexts with the lowest pcs are hot: each is a group in a slot. The others are cold:
 * they wait until the hot ones have passed them or reach their pc. Contexts with equal pcs are one, so paths meet at
 * the first instruction they have in common (the thread frontier, Diamos 2011).
 *
 * Lanes that wait at a barrier, or at a warp-wide instruction for other lanes, are in no context.
 *
 * Progress: the context with the lowest pc, the primary, is always hot and waits for no other lanes of its warp. With
 * `turns`, a primary that spins ranks behind all others until each of them has spun too, has reached its pc, waits or
 * has ended, so lanes that it waits for run. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/spin.h"
#include "divergence/parts/sync.h"

enum { DIVERGENCE_FRONTIER_HOT = 2 }; /* hot contexts at most */

struct divergence_frontier_warp {
    struct divergence_group group[DIVERGENCE_FRONTIER_HOT]; /* the first is in its slot until the warp has ended */
    bool is_hot[DIVERGENCE_FRONTIER_HOT];                   /* the group runs a context */
    bool has_slot;                                          /* the second group has one too */
    uint32_t behind;                                        /* lanes that have spun */
    struct divergence_watch watch[DIVERGENCE_FRONTIER_HOT];
    uint32_t pc[EXEC_LANES]; /* of each lane; those of hot contexts are in group[].pc between hooks */
};

struct divergence_frontier_block {
    struct divergence_frontier_warp *warp;
    struct divergence_sync *sync;
    uint32_t n_rows;
};

/* The first member of a model's state. */
struct divergence_frontier {
    struct divergence_setup setup;
    uint32_t n_hot;     /* contexts of a warp that run: 1 or 2 */
    bool constrains;    /* a second context waits where the paths of a branch meet (interweave.c) */
    bool turns;         /* contexts that spin let others run */
    uint32_t n_spare;   /* slots that second groups may still take */
    uint32_t *diverges; /* per pc: the first branch whose paths meet here, or EXEC_NO_PC; of `program` */
    const struct exec_program *program;
};

void divergence_frontier_init(struct divergence_frontier *frontier, const struct divergence_setup *setup);
void divergence_frontier_release(struct divergence_frontier *frontier); /* frees its members, not itself */

/* Hooks of divergence_ops; the model is a struct divergence_frontier. */
void divergence_frontier_begin_grid(void *model);
void *divergence_frontier_new_block(void *model, const struct exec_cta *cta);
void divergence_frontier_free_block(void *model, void *state);
void divergence_frontier_admit(void *model, struct divergence_block *block, uint64_t cycle);
void divergence_frontier_control(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask,
                                 uint64_t cycle);
void divergence_frontier_reached(void *model, struct divergence_group *group, uint64_t cycle);
void divergence_frontier_visit(const void *model, const struct divergence_block *block,
                               void (*thread)(void *user, const struct divergence_group *group,
                                              const struct exec_row *row, uint32_t lane),
                               void *user);
/* For refuses(): such a model cannot run memory accesses of a whole row. Returns NULL if the program has none. */
const char *divergence_frontier_refuses(const struct exec_program *program, const char *model, char *text, size_t size);

/* Returns the warp of a group. */
static inline struct divergence_frontier_warp *divergence_frontier_warp_of(const struct divergence_group *group) {
    return &((struct divergence_frontier_block *)group->home->state)->warp[group->row->index];
}
