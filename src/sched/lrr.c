/* Loose round robin: picks the next ready warp after the one that issued last. This is the baseline of every paper. */
#include "sched/internal.h"

struct lrr {
    uint32_t turn; /* the slot after the last issued */
};

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    return sched_next(candidates, ((const struct lrr *)state)->turn);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    ((struct lrr *)state)->turn = slot + 1;
}

const struct sched_ops sched_lrr = {
    .name = "lrr",
    .help = "loose round robin: the next ready warp after the last issued",
    .state_bytes = sizeof(struct lrr),
    .start = sched_no_start,
    .arrive = sched_no_slot,
    .leave = sched_no_slot,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
