/* Warp schedulers: which warp issues next. A scheduler sees slots (each holds a warp, or another group of the
 * divergence model) through a small read-only view and returns a slot. docs/write-a-scheduler.md and docs/plug-ins.md
 * show how to write one. */
#pragma once

#include "heddle/policy.h"

struct config_machine; /* defined only inside Heddle */

/* ---- Sets of slots: one or two machine instructions replace a loop over warps ------------------------------------ */

enum { SCHED_MAX_SLOTS = 128, SCHED_WORDS = SCHED_MAX_SLOTS / 64, SCHED_NONE = -1 };

struct sched_set {
    uint64_t word[SCHED_WORDS];
};

static inline bool sched_has(const struct sched_set *set, uint32_t slot) {
    return set->word[slot / 64] >> slot % 64 & 1;
}

static inline void sched_add(struct sched_set *set, uint32_t slot) { set->word[slot / 64] |= 1ull << slot % 64; }

static inline void sched_remove(struct sched_set *set, uint32_t slot) { set->word[slot / 64] &= ~(1ull << slot % 64); }

/* Adds or removes the slot. */
static inline void sched_put(struct sched_set *set, uint32_t slot, bool is_member) {
    sched_remove(set, slot);
    set->word[slot / 64] |= (uint64_t)is_member << slot % 64;
}

static inline bool sched_is_empty(const struct sched_set *set) { return (set->word[0] | set->word[1]) == 0; }

static inline uint32_t sched_count(const struct sched_set *set) {
    return (uint32_t)(__builtin_popcountll(set->word[0]) + __builtin_popcountll(set->word[1]));
}

static inline struct sched_set sched_and(const struct sched_set *a, const struct sched_set *b) {
    return (struct sched_set){{a->word[0] & b->word[0], a->word[1] & b->word[1]}};
}

static inline struct sched_set sched_and_not(const struct sched_set *a, const struct sched_set *b) {
    return (struct sched_set){{a->word[0] & ~b->word[0], a->word[1] & ~b->word[1]}};
}

static inline bool sched_intersect(const struct sched_set *a, const struct sched_set *b) {
    struct sched_set both = sched_and(a, b);
    return !sched_is_empty(&both);
}

/* Returns the lowest member, or SCHED_NONE. */
static inline int sched_first(const struct sched_set *set) {
    if (set->word[0])
        return __builtin_ctzll(set->word[0]);
    return set->word[1] ? 64 + __builtin_ctzll(set->word[1]) : SCHED_NONE;
}

/* Returns the first member at or after slot `from`, wrapping around, or SCHED_NONE. `from` may be SCHED_MAX_SLOTS. */
static inline int sched_next(const struct sched_set *set, uint32_t from) {
    if (from < SCHED_MAX_SLOTS) {
        struct sched_set rest = {{0, set->word[1]}};
        if (from < 64)
            rest.word[0] = set->word[0] & ~0ull << from;
        else
            rest.word[1] &= ~0ull << from % 64;
        int slot = sched_first(&rest);
        if (slot != SCHED_NONE)
            return slot;
    }
    return sched_first(set);
}

_Static_assert(SCHED_WORDS == 2, "the functions above name both words");

/* ---- What a scheduler is ----------------------------------------------------------------------------------------- */

/* What a scheduler may know of a slot. The SM keeps it up to date. */
struct sched_slot {
    uint64_t age;      /* order of arrival on the SM: smaller is older */
    uint32_t pc;       /* of the next instruction */
    uint32_t warp_id;  /* number among the warps of this scheduler, below SCHED_MAX_SLOTS; decides fetch groups and id
                        * order. Splits of one warp may have the same number. */
    uint32_t block;    /* block slot on the SM, below SCHED_MAX_SLOTS */
    uint32_t progress; /* last value of the progress instruction, 0 before it */
    uint32_t active_lanes; /* of the next instruction */
    uint32_t passed;       /* number of post-dominators that the group has passed */
};

/* Properties with one bit per slot are sets, so that a policy narrows its candidates with one AND. Only bits of
 * occupied slots are valid. */
struct sched_view {
    const struct sched_slot *slot;
    const struct sched_set *occupied;   /* slots that hold a live group */
    const struct sched_set *ready;      /* may issue this cycle */
    const struct sched_set *next_long;  /* the next instruction is a load or store to global, local or texture space */
    const struct sched_set *next_load;  /* ... a load of those spaces */
    const struct sched_set *waits_long; /* blocked by the result of a global, local or texture access */
    /* Waits at a barrier or fence or for an atomic, has not started yet, or waits for other groups in any other way.
     * Every wait that only another group's progress can end must be here: strict policies skip these slots and would
     * otherwise wait for ever. */
    const struct sched_set *pending;
    uint32_t n_slots;
    uint64_t cycle;
};

/* In a shared object hooks other than pick may be NULL and then do nothing. In Heddle itself only the last may. Hooks
 * see an up-to-date view. A scheduler sees only its own slots. If an SM has several schedulers, each has its own state.
 * Hooks other than start never allocate, and depend only on their arguments, so that equal calls lead to equal
 * picks. */
struct sched_ops {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* as option */
    size_t options_bytes, state_bytes;
    bool is_strict; /* pick may return SCHED_NONE despite candidates */
    /* `state` is zeroed, `options` are complete. Called before cycle 0 for each scheduler of each SM. */
    void (*start)(void *state, const void *options, uint32_t n_slots);
    /* A slot gets a new group / its group has finished. A group may arrive pending; wake() follows when it no longer
     * is. */
    void (*arrive)(void *state, const struct sched_view *view, uint32_t slot);
    void (*leave)(void *state, const struct sched_view *view, uint32_t slot);
    /* The group in the slot starts to wait / no longer waits. It waits for a long-latency result if is_long, for other
     * groups or a fence if it is pending, otherwise for a short result or its next instruction. When one kind of wait
     * becomes another, stall() is called again. A group whose unit is busy does not wait; it is only not a
     * candidate. */
    void (*stall)(void *state, const struct sched_view *view, uint32_t slot, bool is_long);
    void (*wake)(void *state, const struct sched_view *view, uint32_t slot);
    /* Returns one of `candidates` (a subset of ready, never empty), or SCHED_NONE to leave the issue slot empty (strict
     * policies). */
    int (*pick)(void *state, const struct sched_view *view, const struct sched_set *candidates);
    /* The picked slot has issued. Its stall(), if it must wait now, or its leave() follows. */
    void (*issued)(void *state, const struct sched_view *view, uint32_t slot);
    /* Returns the storage that the policy adds to an SM, in bits, as its paper counts it, with the formula in words.
     * May be NULL if no paper counts it. */
    uint64_t (*cost_bits)(const void *options, const struct config_machine *machine, char *formula, size_t size);
};

/* ---- An order of slots ------------------------------------------------------------------------------------------- */

/* Slots ordered by a key, the smallest first, equal keys by slot number. The order is kept in a matrix, as hardware
 * keeps ages: for every slot the set of slots before it. Finding the first of any set takes a few ANDs. No list is
 * sorted or walked. All zero: empty. */
struct sched_order {
    struct sched_set known;
    struct sched_set before[SCHED_MAX_SLOTS];
    uint64_t key[SCHED_MAX_SLOTS];
};

static inline void sched_order_add(struct sched_order *order, uint32_t slot, uint64_t key) {
    order->key[slot] = key;
    order->before[slot] = (struct sched_set){0};
    struct sched_set others = order->known;
    for (int other; (other = sched_first(&others)) != SCHED_NONE; sched_remove(&others, (uint32_t)other)) {
        bool is_before = order->key[other] != key ? order->key[other] < key : (uint32_t)other < slot;
        if (is_before)
            sched_add(&order->before[slot], (uint32_t)other);
        else
            sched_add(&order->before[other], slot);
    }
    sched_add(&order->known, slot);
}

static inline void sched_order_remove(struct sched_order *order, uint32_t slot) {
    sched_remove(&order->known, slot);
    struct sched_set others = order->known;
    for (int other; (other = sched_first(&others)) != SCHED_NONE; sched_remove(&others, (uint32_t)other))
        sched_remove(&order->before[other], slot);
}

/* Returns the first of `among` (known slots), or SCHED_NONE. Each step moves to an earlier slot. Slots mostly fill in
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

/* Returns the slot with the smallest key, and among equal ones the oldest. For keys that change with every instruction,
 * for which sched_order would be too slow. */
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

/* ---- In a shared object ------------------------------------------------------------------------------------------ */

#define SCHED_LAYOUT                                                                                                   \
    (sizeof(struct sched_ops) << 32 | sizeof(struct sched_view) << 20 | sizeof(struct sched_slot) << 10 |              \
     sizeof(struct sched_set))
/* HEDDLE_SCHEDULER(mine): `const struct sched_ops mine` is the scheduler of this shared object. */
#define HEDDLE_SCHEDULER(ops) HEDDLE_PLUGIN_DEFINE(HEDDLE_PLUGIN_SCHEDULER, SCHED_LAYOUT, &(ops))
