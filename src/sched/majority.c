/* Majority: the program counter that most warps are at; all of them issue before the next one is chosen, so that many
 * threads stay together and find each other.
 *
 * Source: Fung et al. 2007 as described in Narasiman 2014, 3.2.1. Warps are counted, not threads. Ours: only warps that
 * can issue count (others are not in the pool), and when none of those at the chosen one can, it is chosen anew; of
 * equally common ones the lowest, of the warps at it the oldest. Warps on rare paths starve, as the paper says: what
 * spins on them spins until the others have run out. */
#include "sched/internal.h"

struct majority {
    uint32_t pc; /* chosen last */
};

/* Those of `set` that are at pc. */
static struct sched_set slots_at(const struct sched_view *view, const struct sched_set *set, uint32_t pc) {
    struct sched_set there = *set, left = *set;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot))
        if (view->slot[slot].pc != pc)
            sched_remove(&there, (uint32_t)slot);
    return there;
}

static uint32_t most_common_pc(const struct sched_view *view, const struct sched_set *set) {
    uint32_t most = 0, pc = 0;
    struct sched_set left = *set;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE;) {
        struct sched_set there = slots_at(view, &left, view->slot[slot].pc);
        uint32_t count = sched_count(&there);
        if (count > most || (count == most && view->slot[slot].pc < pc)) {
            most = count;
            pc = view->slot[slot].pc;
        }
        left = sched_and_not(&left, &there);
    }
    return pc;
}

static uint32_t no_key(const struct sched_slot *slot) {
    (void)slot;
    return 0;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct majority *majority = state;
    struct sched_set there = slots_at(view, candidates, majority->pc);
    if (sched_is_empty(&there)) {
        majority->pc = most_common_pc(view, candidates);
        there = slots_at(view, candidates, majority->pc);
    }
    return sched_least(view, &there, no_key);
}

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)options, (void)n_slots;
    ((struct majority *)state)->pc = UINT32_MAX;
}

const struct sched_ops sched_majority = {
    .name = "majority",
    .help = "all warps at the most common program counter, then at the next; for dwf",
    .state_bytes = sizeof(struct majority),
    .start = start,
    .arrive = sched_no_slot,
    .leave = sched_no_slot,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = sched_no_slot,
};
