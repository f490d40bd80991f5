/* Greedy then round robin: picks the warp that issued last as long as it can issue, then the next ready one after it.
 *
 * Source: Liu et al. 2023, 2.1. With next=warp the next group is preferably from a different warp. This matters where a
 * warp has several slots: Meng 2010, 4.5 switches to "another SIMD group, preferably from a different warp". */
#include "sched/internal.h"

enum { NEXT_SLOT, NEXT_WARP };

struct options {
    uint32_t next;
};

static const struct config_plugin_option option_table[] = {
    {"next", CONFIG_PLUGIN_CHOICE, offsetof(struct options, next), NEXT_SLOT, 0, 0, "slot|warp",
     "who follows a group that cannot issue: the next ready slot, or the next one of a different warp if there is one"},
    {0},
};

struct gtrr {
    uint32_t turn; /* the slot that issued last, or the one after it once that group has left */
    uint32_t warp; /* of the group that issued last */
    bool has_left; /* that group */
    bool prefers_other_warps;
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct gtrr *)state)->prefers_other_warps = ((const struct options *)options)->next == NEXT_WARP;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct gtrr *gtrr = state;
    if (gtrr->turn != slot)
        return;
    gtrr->turn = slot + 1;
    gtrr->has_left = true;
}

/* The candidates that are of another warp than the group that issued last. */
static struct sched_set other_warps(const struct gtrr *gtrr, const struct sched_view *view,
                                    const struct sched_set *candidates) {
    struct sched_set others = *candidates, left = *candidates;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot))
        if (view->slot[slot].warp_id == gtrr->warp)
            sched_remove(&others, (uint32_t)slot);
    return others;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct gtrr *gtrr = state;
    int next = sched_next(candidates, gtrr->turn);
    bool continues = next == (int)gtrr->turn && !gtrr->has_left;
    if (!gtrr->prefers_other_warps || continues || view->slot[next].warp_id != gtrr->warp)
        return next;
    struct sched_set others = other_warps(gtrr, view, candidates);
    return sched_is_empty(&others) ? next : sched_next(&others, gtrr->turn);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct gtrr *gtrr = state;
    gtrr->turn = slot;
    gtrr->has_left = false;
    gtrr->warp = view->slot[slot].warp_id;
}

const struct sched_ops sched_gtrr = {
    .name = "gtrr",
    .help = "greedy then round robin: the same warp until it stalls, then the next ready one",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct gtrr),
    .start = start,
    .arrive = sched_no_slot,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
