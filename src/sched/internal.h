/* Shared by the policies: their tables, hooks that do nothing, greedy then oldest, and groups of slots. */
#pragma once

#include "sched/sched.h"

#define SCHEDULER(symbol) extern const struct sched_ops sched_##symbol;
#include "sched/schedulers.def"
#undef SCHEDULER

/* ---- Hooks that do nothing --------------------------------------------------------------------------------------- */

void sched_no_start(void *state, const void *options, uint32_t n_slots);
void sched_no_slot(void *state, const struct sched_view *view, uint32_t slot); /* arrive, leave, wake, issued */
void sched_no_stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long);

/* ---- Greedy then oldest ------------------------------------------------------------------------------------------ */

/* The order of gto, for policies that add rules to it and have one state for all schedulers of an SM. */
struct sched_greedy {
    uint8_t is_known[CONFIG_MAX_SCHEDULERS]; /* `last` is valid: its group has not left */
    uint8_t last[CONFIG_MAX_SCHEDULERS];     /* the slot that issued last */
    struct sched_order by_age;
};

static inline void sched_greedy_arrive(struct sched_greedy *greedy, const struct sched_view *view, uint32_t slot) {
    sched_order_add(&greedy->by_age, slot, view->slot[slot].age);
}

static inline void sched_greedy_leave(struct sched_greedy *greedy, const struct sched_view *view, uint32_t slot) {
    sched_order_remove(&greedy->by_age, slot);
    if (greedy->last[slot % view->n_schedulers] == slot)
        greedy->is_known[slot % view->n_schedulers] = false;
}

static inline void sched_greedy_issued(struct sched_greedy *greedy, const struct sched_view *view, uint32_t slot) {
    greedy->is_known[slot % view->n_schedulers] = true;
    greedy->last[slot % view->n_schedulers] = (uint8_t)slot;
}

/* Returns the slot of `among` that issued last in its scheduler, otherwise the oldest, or SCHED_NONE. The slots of
 * `among` belong to one scheduler. */
static inline int sched_greedy_pick(const struct sched_greedy *greedy, const struct sched_view *view,
                                    const struct sched_set *among) {
    if (sched_is_empty(among))
        return SCHED_NONE;
    uint32_t k = (uint32_t)sched_first(among) % view->n_schedulers;
    if (greedy->is_known[k] && sched_has(among, greedy->last[k]))
        return greedy->last[k];
    return sched_order_first(&greedy->by_age, among);
}

/* ---- Groups of slots --------------------------------------------------------------------------------------------- */

/* Slots in numbered groups, each with its own round-robin turn. All zero: empty. */
struct sched_groups {
    uint32_t n; /* 1 + the highest group that ever had a member */
    struct sched_set member[SCHED_MAX_SLOTS];
    uint8_t of[SCHED_MAX_SLOTS];   /* the group of each slot */
    uint8_t turn[SCHED_MAX_SLOTS]; /* by group: where the search for the next slot starts */
};

void sched_groups_add(struct sched_groups *groups, uint32_t slot, uint32_t group);
void sched_groups_remove(struct sched_groups *groups, uint32_t slot);

/* Returns the first group at or after `from`, wrapping around, with a member in `among`, or SCHED_NONE. */
static inline int sched_groups_next(const struct sched_groups *groups, const struct sched_set *among, uint32_t from) {
    for (uint32_t group = from; group < groups->n; group++)
        if (sched_intersect(&groups->member[group], among))
            return (int)group;
    for (uint32_t group = 0; group < from && group < groups->n; group++)
        if (sched_intersect(&groups->member[group], among))
            return (int)group;
    return SCHED_NONE;
}

/* Returns the group's next member in `among`, round robin. */
static inline int sched_groups_turn(const struct sched_groups *groups, const struct sched_set *among, uint32_t group) {
    struct sched_set members = sched_and(&groups->member[group], among);
    return sched_next(&members, groups->turn[group]);
}

static inline void sched_groups_issued(struct sched_groups *groups, uint32_t slot) {
    groups->turn[groups->of[slot]] = (uint8_t)(slot + 1);
}
