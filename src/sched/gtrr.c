/* Greedy then round robin: the warp that issued last as long as it can issue, then the next ready one after it.
 *
 * Source: Liu et al. 2023, 2.1. */
#include "sched/internal.h"

struct gtrr {
    uint32_t turn; /* the slot that issued last, or the one after it once that group has left */
};

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct gtrr *gtrr = state;
    if (gtrr->turn == slot)
        gtrr->turn = slot + 1;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    return sched_next(candidates, ((const struct gtrr *)state)->turn);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    ((struct gtrr *)state)->turn = slot;
}

const struct sched_ops sched_gtrr = {
    .name = "gtrr",
    .help = "greedy then round robin: the same warp until it stalls, then the next ready one",
    .state_bytes = sizeof(struct gtrr),
    .start = sched_no_start,
    .arrive = sched_no_slot,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
