/* Two levels by activity: a small active set is scheduled round robin. A warp that reaches a long-latency dependence
 * leaves the set, and a warp that no longer waits takes its place. `two-level-opt` is the same with long operations
 * first.
 *
 * Sources: Gebhart et al. 2011 as described by Liu et al. 2023, 2.1 ("2-level") and 3.2 ("2-level opt": the active
 * warps sorted, those whose next instruction is a long operation in front).
 *
 * Left open by the papers:
 * - Pending warps (for example at a barrier) leave the active set too, because the warps they wait for may be outside
 *   the set.
 * - A free place goes, round robin, to the next warp after the one that entered last.
 * - Warps outside the set never issue, even if no other warp is ready. This rule makes the set cheap. */
#include "sched/internal.h"

struct options {
    uint32_t active;
};

static const struct config_plugin_option option_table[] = {
    {"active", CONFIG_PLUGIN_UINT, offsetof(struct options, active), 8, 1, SCHED_MAX_SLOTS, NULL,
     "warps in the active set"},
    {0},
};

struct two_level_active {
    uint32_t most_active;
    uint32_t turn;             /* the slot after the last issued */
    uint32_t turn_to_enter;    /* the slot after the last that became active */
    struct sched_set active;   /* may be picked */
    struct sched_set eligible; /* outside the set, but not waiting */
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct two_level_active *)state)->most_active = ((const struct options *)options)->active;
}

static void fill_places(struct two_level_active *set) {
    while (sched_count(&set->active) < set->most_active && !sched_is_empty(&set->eligible)) {
        uint32_t slot = (uint32_t)sched_next(&set->eligible, set->turn_to_enter);
        sched_remove(&set->eligible, slot);
        sched_add(&set->active, slot);
        set->turn_to_enter = slot + 1;
    }
}

static void drop(struct two_level_active *set, uint32_t slot) {
    sched_remove(&set->active, slot);
    sched_remove(&set->eligible, slot);
    fill_places(set);
}

static void admit(struct two_level_active *set, uint32_t slot) {
    if (!sched_has(&set->active, slot))
        sched_add(&set->eligible, slot);
    fill_places(set);
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    if (!sched_has(view->pending, slot))
        admit(state, slot);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    drop(state, slot);
}

static void stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    if (is_long || sched_has(view->pending, slot))
        drop(state, slot);
}

static void wake(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    admit(state, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    const struct two_level_active *set = state;
    struct sched_set active = sched_and(candidates, &set->active);
    return sched_next(&active, set->turn);
}

static int pick_long_first(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    const struct two_level_active *set = state;
    struct sched_set active = sched_and(candidates, &set->active);
    struct sched_set next_long = sched_and(&active, view->next_long);
    return sched_next(sched_is_empty(&next_long) ? &active : &next_long, set->turn);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    ((struct two_level_active *)state)->turn = slot + 1;
}

const struct sched_ops sched_two_level_active = {
    .name = "two-level-active",
    .help = "round robin in a small active set; warps with a long wait are replaced",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct two_level_active),
    .is_strict = true,
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = stall,
    .wake = wake,
    .pick = pick,
    .issued = issued,
};

const struct sched_ops sched_two_level_opt = {
    .name = "two-level-opt",
    .help = "two-level-active with long operations first inside the active set",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct two_level_active),
    .is_strict = true,
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = stall,
    .wake = wake,
    .pick = pick_long_first,
    .issued = issued,
};
