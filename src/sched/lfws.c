/* LFWS: long operations first. Ready warps whose next instruction is a load or store to global, local or texture space
 * issue first, then the others. Within each class: the warp that issued last, then the oldest.
 *
 * Source: Liu et al. 2023, 2.2 and 2.3. Section 2.3 sorts by the ids of 2.1, where the warp that arrived first has the
 * smallest id. This is the order of arrival, as for GTO. The SM filters out pending warps (algorithm 1), so they are
 * never candidates. "Executed in the previous cycle" is read as issued last, which differs only after idle cycles. */
#include <stdio.h>

#include "sched/internal.h"

struct lfws {
    int last; /* the slot that issued last, or SCHED_NONE once its group has left */
    struct sched_order by_age;
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)options, (void)n_slots;
    ((struct lfws *)state)->last = SCHED_NONE;
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    sched_order_add(&((struct lfws *)state)->by_age, slot, view->slot[slot].age);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct lfws *lfws = state;
    sched_order_remove(&lfws->by_age, slot);
    if (lfws->last == (int)slot)
        lfws->last = SCHED_NONE;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct lfws *lfws = state;
    struct sched_set among = sched_and(candidates, view->next_long);
    if (sched_is_empty(&among))
        among = *candidates;
    if (lfws->last != SCHED_NONE && sched_has(&among, (uint32_t)lfws->last))
        return lfws->last;
    return sched_order_first(&lfws->by_age, &among);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    ((struct lfws *)state)->last = (int)slot;
}

/* Liu 2023, 2.4. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "one state bit per warp: %u", warps);
    return warps;
}

const struct sched_ops sched_lfws = {
    .name = "lfws",
    .help = "warps before a global, local or texture access first; greedy, then oldest, within each class",
    .state_bytes = sizeof(struct lfws),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
};
