/* Strict round robin: the next warp in order issues. While it cannot issue, no other warp does.
 *
 * Source: Liu et al. 2023, 2.1. Their example has no barriers. With barriers a strict order would deadlock: a warp at a
 * barrier would keep the turn, and the warps that it waits for would never get it. So the turn skips pending warps. */
#include "sched/internal.h"

struct srr {
    struct sched_set arrived;
    uint32_t turn; /* the slot after the last issued */
};

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    sched_add(&((struct srr *)state)->arrived, slot);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    sched_remove(&((struct srr *)state)->arrived, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct srr *srr = state;
    struct sched_set in_order = sched_and_not(&srr->arrived, view->pending);
    int slot = sched_next(&in_order, srr->turn);
    return slot != SCHED_NONE && sched_has(candidates, (uint32_t)slot) ? slot : SCHED_NONE;
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    ((struct srr *)state)->turn = slot + 1;
}

const struct sched_ops sched_srr = {
    .name = "srr",
    .help = "strict round robin: the next warp in order; the pipeline idles while it is blocked",
    .state_bytes = sizeof(struct srr),
    .is_strict = true,
    .start = sched_no_start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
