/* Sticky round robin: the block that issued last keeps its priority until none of its warps can be scheduled. Then the
 * priority passes to the next block with a ready warp. The order within a block is round robin.
 *
 * Source: the policy of Thread Block Compaction (Fung and Aamodt 2011), used by Narasiman 2014, 5.2, which names it
 * without describing it. Each block keeps its own turn and continues where it stopped. */
#include "sched/internal.h"

struct sticky_rr {
    uint32_t block; /* that issued last */
    struct sched_groups blocks;
};

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    sched_groups_add(&((struct sticky_rr *)state)->blocks, slot, view->slot[slot].block);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    sched_groups_remove(&((struct sticky_rr *)state)->blocks, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    const struct sticky_rr *sticky_rr = state;
    int block = sched_groups_next(&sticky_rr->blocks, candidates, sticky_rr->block);
    return block == SCHED_NONE ? SCHED_NONE : sched_groups_turn(&sticky_rr->blocks, candidates, (uint32_t)block);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct sticky_rr *sticky_rr = state;
    sticky_rr->block = sticky_rr->blocks.of[slot];
    sched_groups_issued(&sticky_rr->blocks, slot);
}

const struct sched_ops sched_sticky_rr = {
    .name = "sticky-rr",
    .help = "one block's warps round robin until none of them is ready, then the next block",
    .state_bytes = sizeof(struct sticky_rr),
    .start = sched_no_start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
