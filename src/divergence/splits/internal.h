/* What the files of splits.h share and models do not need. */
#pragma once

#include "divergence/splits/splits.h"

struct divergence_splits_block {
    struct divergence_warp *warp;
    uint32_t n_warps, n_rows;
    struct divergence_sync *sync;
};

/* --- splits_pool.c: what splits live in --- */

/* A new split of the subdivision, without threads; it has the place in the table and, later, the warp number that go
 * with `like`, another split of the warp (NULL: it is the warp's first). */
struct divergence_split *divergence_split_new(struct divergence_splits *splits,
                                              struct divergence_subdivision *subdivision,
                                              struct divergence_split *like);
/* The split is no more: out of its subdivision, table, queue and slot. */
void divergence_split_drop(struct divergence_splits *splits, struct divergence_split *split);
void divergence_split_move(struct divergence_split *split, struct divergence_subdivision *subdivision);
/* Whether the table has room for n more splits of this warp. */
bool divergence_splits_have_room(const struct divergence_splits *splits, const struct divergence_warp *warp,
                                 uint32_t n);

struct divergence_subdivision *divergence_subdivision_new(struct divergence_splits *splits,
                                                          struct divergence_warp *warp,
                                                          struct divergence_subdivision *parent);
void divergence_subdivision_drop(struct divergence_splits *splits, struct divergence_subdivision *subdivision);

/* The split runs: it stays in its slot, gets one, or goes into the queue. */
void divergence_split_seat(struct divergence_splits *splits, struct divergence_split *split);
/* It waits for others, and nothing of it is under way. */
void divergence_split_unseat(struct divergence_splits *splits, struct divergence_split *split);
/* Seats those in the queue while there are slots. */
void divergence_splits_seat_queue(struct divergence_splits *splits);

uint32_t divergence_splits_new_warp_id(struct divergence_splits *splits);

/* --- splits.c --- */

/* The split goes on at its pc, unless it has to do or wait for something there. */
void divergence_split_run_from(struct divergence_splits *splits, struct divergence_split *split);
void divergence_split_set_notify_pc(const struct divergence_splits *splits, struct divergence_split *split);
/* The group shows the SM the split's threads. */
void divergence_split_show(struct divergence_split *split);
/* `other` becomes part of `split`. */
void divergence_split_merge(struct divergence_splits *splits, struct divergence_split *split,
                            struct divergence_split *other);
/* The same with all that have its pc and are ready. True when the split has to drain before that. */
bool divergence_split_merge_equals(struct divergence_splits *splits, struct divergence_split *split);
/* The threads of the stack's top have different pcs. */
void divergence_subdivision_part(struct divergence_subdivision *subdivision);
/* The split has something to do for which nothing of it may be under way: now, or when it has drained. */
void divergence_split_begin(struct divergence_splits *splits, struct divergence_split *split,
                            enum divergence_split_phase phase);
/* What is on the stack now goes on in `split`, the subdivision's only one (it may have no threads). */
void divergence_subdivision_go_on(struct divergence_splits *splits, struct divergence_subdivision *subdivision,
                                  struct divergence_split *split);

/* --- splits_sync.c --- */

/* The threads in `taken` have come to the barrier or warp-wide instruction at pc. */
void divergence_split_synchronise(struct divergence_splits *splits, struct divergence_split *split,
                                  const uint32_t *taken);
/* The same for those in split->part, now that nothing of a subdivided warp's split is under way. */
void divergence_split_arrive(struct divergence_splits *splits, struct divergence_split *split);
/* Whether all that the subdivision's children do is to wait at barriers. */
bool divergence_subdivision_waits(const struct divergence_subdivision *subdivision);
/* When all splits and children of the subdivision wait, some at barriers or warp-wide instructions, other paths on its
 * stack may run. False: nothing done. */
bool divergence_subdivision_give_way(struct divergence_splits *splits, struct divergence_subdivision *subdivision);
/* Goes on with all that barriers and warp-wide instructions have released. */
void divergence_splits_set_free(struct divergence_splits *splits, struct divergence_block *place);
