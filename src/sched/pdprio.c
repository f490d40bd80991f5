/* Post-dominator priority: picks the warp that has passed the fewest control-flow merge points, so that the warps ahead
 * wait for the others.
 *
 * Source: Fung et al. 2007 as described in Narasiman 2014, 3.2.1. Our choices: among equal warps the oldest goes first,
 * and the SM counts a merge point each time a warp executes the instruction there, in every iteration of a loop. */
#include "sched/internal.h"

static uint32_t passed_by(const struct sched_slot *slot) { return slot->passed; }

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)state;
    return sched_least(view, candidates, passed_by);
}

const struct sched_ops sched_pdprio = {
    .name = "pdprio",
    .help = "the warp that has passed the fewest post-dominators first; for dwf",
    .state_bytes = 1,
    .start = sched_no_start,
    .arrive = sched_no_slot,
    .leave = sched_no_slot,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = sched_no_slot,
};
