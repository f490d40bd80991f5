/* Gangs of small warps: how they split and join, and their queue for slots. For vws.
 *
 * The threads of a row are several small warps of neighbouring lanes, each with a post-dominator stack of its own. A
 * gang is a group of small warps of one row. Every small warp that has not ended is in one gang. A gang either runs,
 * with all its small warps at one pc, or waits for other threads with all of them. While it runs, the pc of its group
 * is ahead of those in the stacks: divergence_gangs_update() copies it there. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/pdom.h"
#include "divergence/parts/spin.h"

struct divergence_gang {
    struct divergence_group group; /* first */
    uint32_t slices;               /* its small warps, a bit for each; 0: not in use */
    bool is_queued;                /* for a slot */
    struct divergence_watch watch;
};

struct divergence_small_warp {
    struct divergence_stack stack;
    struct divergence_watch watch;
};

/* A row: its small warps, and the gangs that they are in. */
struct divergence_gang_row {
    struct divergence_small_warp *small_warp;
    struct divergence_gang *gang; /* as many as small warps */
};

struct divergence_gang_block {
    struct divergence_gang_row *row;
    struct divergence_sync *sync;
    uint32_t n_rows;
    bool is_live;
};

enum { DIVERGENCE_GANGS_MOST_BLOCKS = CONFIG_MAX_WARPS };

/* The first member of a model's state. */
struct divergence_gangs {
    struct divergence_setup setup;
    uint32_t width, n_slices; /* threads of a small warp, small warps of a row */
    bool rejoin;              /* gangs of a row that reach the same pc are one again */
    bool split_completely;    /* a gang that splits does so into its small warps, not by pc */
    struct divergence_gang_block *block[DIVERGENCE_GANGS_MOST_BLOCKS];
    uint32_t n_blocks;
    struct divergence_gang **queue; /* those without a slot that can run, the first one first */
    uint32_t queue_length, queue_capacity;
};

void divergence_gangs_init(struct divergence_gangs *gangs, const struct divergence_setup *setup, uint32_t width);
void divergence_gangs_release(struct divergence_gangs *gangs); /* frees its members, not itself */

/* Hooks of divergence_ops; the model is a struct divergence_gangs. */
void *divergence_gangs_new_block(void *model, const struct exec_cta *cta);
void divergence_gangs_free_block(void *model, void *state);
void divergence_gangs_refill(void *model, uint64_t cycle);
void divergence_gangs_visit(const void *model, const struct divergence_block *block,
                            void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                           uint32_t lane),
                            void *visitor);

/* Gives the gang a slot or, if there is none, a place in the queue. `self`, whose hook runs, keeps its slot. */
void divergence_gangs_seat(struct divergence_gangs *gangs, struct divergence_gang *gang,
                           const struct divergence_gang *self, uint64_t cycle);
void divergence_gangs_enqueue(struct divergence_gangs *gangs, struct divergence_gang *gang);

/* Sets the pcs of the small warps to that of their gang. update_row() does so for all gangs of a row. */
void divergence_gangs_update(struct divergence_gang_row *row, const struct divergence_gang *gang);
void divergence_gangs_update_row(struct divergence_gangs *gangs, struct divergence_gang_row *row);
/* Returns a new gang with these small warps, which leave the gang `like`. */
struct divergence_gang *divergence_gangs_add(struct divergence_gangs *gangs, struct divergence_gang_row *row,
                                             const struct divergence_gang *like, uint32_t slices);
/* Sets the group to its small warps, which all run or all wait. */
void divergence_gangs_show(const struct divergence_gangs *gangs, const struct divergence_gang_row *row,
                           struct divergence_gang *gang, bool waits);
/* Splits and joins the gangs of a row as the stacks of their small warps require. The pcs of the small warps are up to
 * date. */
void divergence_gangs_settle(struct divergence_gangs *gangs, struct divergence_gang_block *block, uint32_t index,
                             struct divergence_gang *self, uint64_t cycle);

static inline struct divergence_gang_row *divergence_gang_row_of(const struct divergence_group *group) {
    return &((struct divergence_gang_block *)group->home->state)->row[group->row->index];
}

/* Returns the lanes of small warps. */
static inline uint32_t divergence_gangs_lanes(const struct divergence_gangs *gangs, uint32_t slices) {
    uint32_t width = gangs->width, one = width == 32 ? ~0u : (1u << width) - 1, lanes = 0;
    for (; slices; slices &= slices - 1)
        lanes |= one << ((uint32_t)__builtin_ctz(slices) * width);
    return lanes;
}
