/* Greedy then oldest: picks the warp that issued last as long as it can issue, then the one that arrived on the SM
 * first.
 *
 * Source: Rogers et al. 2012 as described by Liu et al. 2023, 2.1. When a group finishes, its successor in the slot
 * does not inherit the priority. */
#include "sched/internal.h"

struct gto {
    int last; /* the slot that issued last, or SCHED_NONE once its group has left */
    struct sched_order by_age;
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)options, (void)n_slots;
    ((struct gto *)state)->last = SCHED_NONE;
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    sched_order_add(&((struct gto *)state)->by_age, slot, view->slot[slot].age);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct gto *gto = state;
    sched_order_remove(&gto->by_age, slot);
    if (gto->last == (int)slot)
        gto->last = SCHED_NONE;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    const struct gto *gto = state;
    if (gto->last != SCHED_NONE && sched_has(candidates, (uint32_t)gto->last))
        return gto->last;
    return sched_order_first(&gto->by_age, candidates);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    ((struct gto *)state)->last = (int)slot;
}

const struct sched_ops sched_gto = {
    .name = "gto",
    .help = "greedy then oldest: the same warp until it stalls, then the one that arrived first",
    .state_bytes = sizeof(struct gto),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
