/* Static warp limiting: at most `warps` warps of an SM may issue, in the order of gto.
 *
 * Source: Rogers, O'Connor and Aamodt, Cache-Conscious Wavefront Scheduling, MICRO 2012 (SWL), as GPGPU-Sim has it
 * (warp_limiting): greedy then oldest among the oldest warps that are not at a barrier. The paper finds the best limit
 * of each program by trying all of them.
 *
 * Left open by the paper:
 * - The limit is that of the SM, as in the paper, whose cores have one scheduler. GPGPU-Sim limits each scheduler.
 * - A warp that waits for others, at a barrier or a join, gives its place to the oldest warp that has none. A wait for
 *   memory, and a fence, keeps the place.
 * - A warp that no longer waits for others gets the next free place. It does not take one from a younger warp, which
 *   may hold a lock that older warps wait for.
 * - Warps that wait for others by reading memory again and again keep their places. If all places are taken by such
 *   warps, the others get no chance: after `patience` instructions without a barrier, a warp gives its place to the
 *   oldest warp without one. The paper's programs have no such waits. */
#include <stdio.h>

#include "sched/internal.h"

struct options {
    uint32_t warps, patience;
};

static const struct config_plugin_option option_table[] = {
    {"warps", CONFIG_PLUGIN_UINT, offsetof(struct options, warps), 8, 1, SCHED_MAX_SLOTS, NULL,
     "warps of an SM that may issue"},
    {"patience", CONFIG_PLUGIN_UINT, offsetof(struct options, patience), 65536, 0, UINT32_MAX, NULL,
     "instructions after which a warp gives up its place; 0: never"},
    {0},
};

struct swl {
    struct options options;
    struct sched_greedy greedy;
    struct sched_set placed;  /* may issue */
    struct sched_set outside; /* do not wait for others, but have no place */
    uint32_t n_issued[SCHED_MAX_SLOTS];
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct swl *)state)->options = *(const struct options *)options;
}

static void fill_places(struct swl *swl) {
    while (sched_count(&swl->placed) < swl->options.warps && !sched_is_empty(&swl->outside)) {
        uint32_t slot = (uint32_t)sched_order_first(&swl->greedy.by_age, &swl->outside);
        sched_remove(&swl->outside, slot);
        sched_add(&swl->placed, slot);
        swl->n_issued[slot] = 0;
    }
}

static void drop(struct swl *swl, uint32_t slot) {
    sched_remove(&swl->placed, slot);
    sched_remove(&swl->outside, slot);
}

static void enter(struct swl *swl, uint32_t slot) {
    if (!sched_has(&swl->placed, slot))
        sched_add(&swl->outside, slot);
    fill_places(swl);
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct swl *swl = state;
    sched_greedy_arrive(&swl->greedy, view, slot);
    if (!sched_has(view->pending, slot))
        enter(swl, slot);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct swl *swl = state;
    drop(swl, slot);
    sched_greedy_leave(&swl->greedy, view, slot);
    fill_places(swl);
}

static void stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    struct swl *swl = state;
    if (is_long || !sched_has(view->pending, slot))
        return;
    drop(swl, slot);
    fill_places(swl);
}

static void wake(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    enter(state, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct swl *swl = state;
    struct sched_set placed = sched_and(candidates, &swl->placed);
    return sched_greedy_pick(&swl->greedy, view, &placed);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct swl *swl = state;
    sched_greedy_issued(&swl->greedy, view, slot);
    if (!swl->options.patience || ++swl->n_issued[slot] < swl->options.patience)
        return;
    swl->n_issued[slot] = 0;
    if (sched_is_empty(&swl->outside) || !sched_has(&swl->placed, slot))
        return;
    sched_remove(&swl->placed, slot);
    fill_places(swl);
    sched_add(&swl->outside, slot);
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "ours: a bit for each of %u warps that has a place, and a limit of 8 bits", warps);
    return warps + 8;
}

const struct sched_ops sched_swl = {
    .name = "swl",
    .help = "static warp limiting: greedy then oldest among a limited number of warps",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct swl),
    .is_strict = true,
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = stall,
    .wake = wake,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
    .has_one_state = true,
};
