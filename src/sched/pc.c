/* Lowest pc first: warps further back in the code catch up with the others, so that threads merge where paths join.
 *
 * Source: Fung et al. 2007, one of the policies for dynamic warp formation. Our choice: among warps at the same pc, the
 * oldest goes first. A warp that spins at a low pc, waiting for a write of a warp ahead, starves that warp. */
#include "sched/internal.h"

static uint32_t pc_of(const struct sched_slot *slot) { return slot->pc; }

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)state;
    return sched_least(view, candidates, pc_of);
}

const struct sched_ops sched_pc = {
    .name = "pc",
    .help = "the lowest program counter first, so that paths catch up with each other; for dwf",
    .state_bytes = 1,
    .start = sched_no_start,
    .arrive = sched_no_slot,
    .leave = sched_no_slot,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = sched_no_slot,
};
