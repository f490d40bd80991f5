/* Shared by the policies: their tables, hooks that do nothing, an order of slots, and groups of slots. */
#pragma once

#include "sched/sched.h"

#define SCHEDULER(symbol) extern const struct sched_ops sched_##symbol;
#include "sched/schedulers.def"
#undef SCHEDULER

/* ---- Hooks that do nothing --------------------------------------------------------------------------------------- */

void sched_no_start(void *state, const void *options, uint32_t n_slots);
void sched_no_slot(void *state, const struct sched_view *view, uint32_t slot); /* arrive, leave, wake, issued */
void sched_no_stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long);

/* ---- An order of slots ------------------------------------------------------------------------------------------- */

/* Slots ordered by a key, the smallest first, equal keys by slot number. Kept in a matrix, as hardware keeps ages: for
 * every slot the set of slots before it. Finding the first of any set takes a few ANDs; no list is sorted or walked.
 * All zero: empty. */
struct sched_order {
    struct sched_set known;
    uint64_t key[SCHED_MAX_SLOTS];
    struct sched_set before[SCHED_MAX_SLOTS];
};

void sched_order_add(struct sched_order *order, uint32_t slot, uint64_t key);
void sched_order_remove(struct sched_order *order, uint32_t slot);

/* Returns the first of `among` (known slots), or SCHED_NONE. Each step moves to an earlier slot; slots mostly fill in
 * order, so one or two steps suffice. */
static inline int sched_order_first(const struct sched_order *order, const struct sched_set *among) {
    int slot = sched_first(among);
    while (slot != SCHED_NONE) {
        struct sched_set before = sched_and(among, &order->before[slot]);
        int earlier = sched_first(&before);
        if (earlier == SCHED_NONE)
            break;
        slot = earlier;
    }
    return slot;
}

/* Returns the slot with the smallest key; of equal ones the oldest. For keys that change with every instruction, for
 * which sched_order would be too slow. */
static inline int sched_least(const struct sched_view *view, const struct sched_set *among,
                              uint32_t (*key)(const struct sched_slot *slot)) {
    struct sched_set left = *among;
    int least = SCHED_NONE;
    for (int slot; (slot = sched_first(&left)) != SCHED_NONE; sched_remove(&left, (uint32_t)slot)) {
        const struct sched_slot *one = &view->slot[slot], *best = &view->slot[least == SCHED_NONE ? slot : least];
        bool is_less = key(one) != key(best) ? key(one) < key(best) : one->age < best->age;
        if (least == SCHED_NONE || is_less)
            least = slot;
    }
    return least;
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
