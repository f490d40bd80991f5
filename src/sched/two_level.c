/* Two-level round robin: warps form fetch groups, and one group has priority, so that the groups reach their
 * long-latency instructions at different times and one computes while another waits.
 *
 * Sources:
 * - Narasiman et al. 2011, 3.2: switch=empty. The next group takes over once no warp of the prioritised one can be
 *   scheduled.
 * - Narasiman 2014, 4.3: switch=stall. The groups keep a priority order, and the top group becomes the lowest once all
 *   its warps wait for long-latency results. Until then lower groups fill the cycles that the top group leaves unused.
 * - Narasiman 2014, 4.4: the timeout; 3.3 and 9.2.2: greedy then oldest at either level.
 *
 * Left open by the papers:
 * - A warp's group is id / size. Each group keeps its own turn and continues where it stopped.
 * - Round robin between groups keeps the order of their numbers, so that the priority order is one number, the top.
 * - When all groups wait, the first with a warp that wakes becomes the top.
 * - The oldest group is the one with the oldest warp.
 * - The timeout counts the instructions of the prioritised group and applies to all groups of one warp: a scheduler
 *   does not know whether that warp is a large one. */
#include <stdio.h>

#include "sched/internal.h"

enum { SWITCH_EMPTY, SWITCH_STALL };
enum { BY_RR, BY_GTO };

struct options {
    uint32_t group, switches, timeout, inner, outer;
};

static const struct config_plugin_option option_table[] = {
    {"group", CONFIG_PLUGIN_UINT, offsetof(struct options, group), 8, 1, SCHED_MAX_SLOTS, NULL,
     "warps in a fetch group"},
    {"switch", CONFIG_PLUGIN_CHOICE, offsetof(struct options, switches), SWITCH_EMPTY, 0, 0, "empty|stall",
     "leave the group when none of its warps can be scheduled, or only when all wait for long-latency results"},
    {"timeout", CONFIG_PLUGIN_UINT, offsetof(struct options, timeout), 32768, 0, UINT32_MAX, NULL,
     "with group=1: leave the warp after this many instructions; 0: never"},
    {"inner", CONFIG_PLUGIN_CHOICE, offsetof(struct options, inner), BY_RR, 0, 0, "rr|gto", "order inside a group"},
    {"outer", CONFIG_PLUGIN_CHOICE, offsetof(struct options, outer), BY_RR, 0, 0, "rr|gto", "order of the groups"},
    {0},
};

static const struct config_preset presets[] = {
    {"2011", "switch=empty", "as in the paper of 2011"},
    {"2014", "switch=stall", "as in the thesis of 2014"},
    {0},
};

struct two_level {
    struct options options;
    uint32_t top;                    /* the prioritised group */
    uint32_t n_issued;               /* instructions of the top since it became the top */
    struct sched_set waiting;        /* for long-latency results */
    uint8_t greedy[SCHED_MAX_SLOTS]; /* by group, inner=gto: 1 + the slot issued last, 0: none */
    struct sched_groups groups;
    struct sched_order by_age;
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    ((struct two_level *)state)->options = *(const struct options *)options;
}

/* ---- Between groups ---------------------------------------------------------------------------------------------- */

static void set_top(struct two_level *two_level, uint32_t group) {
    two_level->top = group;
    two_level->n_issued = 0;
}

/* Returns the next group after the top with a member in `among`: the top itself if it is the only one, SCHED_NONE if
 * there is none. */
static int next_group(const struct two_level *two_level, const struct sched_set *among) {
    const struct sched_groups *groups = &two_level->groups;
    if (two_level->options.outer == BY_RR)
        return sched_groups_next(groups, among, two_level->top + 1);
    struct sched_set others = sched_and_not(among, &groups->member[two_level->top]);
    int oldest = sched_order_first(&two_level->by_age, sched_is_empty(&others) ? among : &others);
    return oldest == SCHED_NONE ? SCHED_NONE : groups->of[oldest];
}

/* switch=stall: once all warps of the top wait, or none is left, the next group with a warp that does not wait becomes
 * the top. */
static void settle_top(struct two_level *two_level) {
    if (two_level->options.switches != SWITCH_STALL)
        return;
    struct sched_set awake = sched_and_not(&two_level->by_age.known, &two_level->waiting);
    if (sched_intersect(&two_level->groups.member[two_level->top], &awake))
        return;
    int next = next_group(two_level, &awake);
    if (next != SCHED_NONE)
        set_top(two_level, (uint32_t)next);
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct two_level *two_level = state;
    uint32_t group = view->slot[slot].warp_id / two_level->options.group;
    sched_groups_add(&two_level->groups, slot, group);
    sched_order_add(&two_level->by_age, slot, view->slot[slot].age);
    settle_top(two_level);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct two_level *two_level = state;
    uint32_t group = two_level->groups.of[slot];
    sched_groups_remove(&two_level->groups, slot);
    sched_order_remove(&two_level->by_age, slot);
    sched_remove(&two_level->waiting, slot);
    if (two_level->greedy[group] == slot + 1)
        two_level->greedy[group] = 0;
    settle_top(two_level);
}

static void stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    (void)view;
    struct two_level *two_level = state;
    sched_put(&two_level->waiting, slot, is_long);
    settle_top(two_level);
}

static void wake(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct two_level *two_level = state;
    sched_remove(&two_level->waiting, slot);
    settle_top(two_level);
}

/* ---- Picking ----------------------------------------------------------------------------------------------------- */

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    const struct two_level *two_level = state;
    const struct sched_groups *groups = &two_level->groups;
    uint32_t group = two_level->top;
    if (!sched_intersect(&groups->member[group], candidates))
        group = (uint32_t)next_group(two_level, candidates);
    if (two_level->options.inner == BY_RR)
        return sched_groups_turn(groups, candidates, group);
    uint32_t greedy = two_level->greedy[group];
    if (greedy && sched_has(candidates, greedy - 1))
        return (int)greedy - 1;
    struct sched_set members = sched_and(&groups->member[group], candidates);
    return sched_order_first(&two_level->by_age, &members);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct two_level *two_level = state;
    uint32_t group = two_level->groups.of[slot];
    sched_groups_issued(&two_level->groups, slot);
    two_level->greedy[group] = (uint8_t)(slot + 1);
    if (two_level->options.switches == SWITCH_EMPTY && group != two_level->top)
        set_top(two_level, group);
    if (group != two_level->top || two_level->options.group != 1 || two_level->options.timeout == 0)
        return;
    if (++two_level->n_issued >= two_level->options.timeout) {
        struct sched_set awake = sched_and_not(&two_level->by_age.known, &two_level->waiting);
        set_top(two_level, (uint32_t)next_group(two_level, &awake)); /* the slot itself is awake: there is a group */
    }
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options, (void)machine;
    snprintf(formula, size, "none: a block of logic in the fetch stage (Narasiman 2011, 3.3; 2014, 4.5: negligible)");
    return 0;
}

const struct sched_ops sched_two_level = {
    .name = "two-level",
    .help = "one fetch group of warps has priority until none of them can issue, then the next",
    .option = option_table,
    .preset = presets,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct two_level),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = stall,
    .wake = wake,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
};
