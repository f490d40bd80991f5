/* Shared by the policies: their tables, hooks that do nothing, and groups of slots. */
#pragma once

#include "sched/sched.h"

#define SCHEDULER(symbol) extern const struct sched_ops sched_##symbol;
#include "sched/schedulers.def"
#undef SCHEDULER

/* ---- Hooks that do nothing --------------------------------------------------------------------------------------- */

void sched_no_start(void *state, const void *options, uint32_t n_slots);
void sched_no_slot(void *state, const struct sched_view *view, uint32_t slot); /* arrive, leave, wake, issued */
void sched_no_stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long);

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
