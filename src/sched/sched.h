/* Warp schedulers: who issues next. A scheduler sees slots (a warp, or whatever group the divergence model runs in one)
 * through a small read-only view and returns a slot. One file per policy, ending in its operations table;
 * schedulers.def lists them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCHED_MAX_SLOTS = 128, SCHED_WORDS = SCHED_MAX_SLOTS / 64, SCHED_NONE = -1 };

/* A set of slots. */
struct sched_set {
    uint64_t word[SCHED_WORDS];
};

/* What a scheduler may know of a slot. Kept up to date by the SM. */
struct sched_slot {
    uint64_t age;          /* order of arrival on the SM: smaller is older */
    uint32_t pc;           /* of the next instruction */
    uint32_t warp_id;      /* number on the SM: fetch groups and id order go by it */
    uint32_t block;        /* block slot on the SM */
    uint32_t progress;     /* value of the progress instruction, 0 without */
    uint32_t active_lanes; /* of the next instruction */
    bool is_long;          /* the next instruction is a load or store to global, local or texture space */
    bool is_load;          /* ... a load of those spaces */
    bool is_pending;       /* at a barrier or fence, waits for an atomic, or not yet started */
    bool waits_long;       /* blocked by the result of a global, local or texture access */
};

struct sched_view {
    const struct sched_slot *slot;
    const struct sched_set *occupied; /* slots that hold a live group */
    const struct sched_set *ready;    /* may issue this cycle */
    uint32_t n_slots;
    uint64_t cycle;
};

enum sched_option_type { SCHED_OPTION_UINT, SCHED_OPTION_CHOICE };

/* One row per option: `two-level:group=8,switch=stall`. Values are stored as uint32_t at `offset` in the policy's
 * options struct; a choice stores the place of the word in `choices` (words separated by '|'). */
struct sched_option {
    const char *name;
    enum sched_option_type type;
    size_t offset;
    uint32_t default_value, least, most;
    const char *choices;
    const char *help;
};

struct sched_ops {
    const char *name, *help;
    const struct sched_option *option; /* ends with a NULL name; may be NULL */
    size_t options_bytes, state_bytes;
    /* state is zeroed; options are filled in. Called before cycle 0 and for each SM's each scheduler. */
    void (*start)(void *state, const void *options, uint32_t n_slots);
    /* A slot gets a new group / its group has finished. */
    void (*arrive)(void *state, const struct sched_view *view, uint32_t slot);
    void (*leave)(void *state, const struct sched_view *view, uint32_t slot);
    /* The group in slot began to wait (for a long-latency result when is_long) / is no longer waiting. */
    void (*stall)(void *state, const struct sched_view *view, uint32_t slot, bool is_long);
    void (*wake)(void *state, const struct sched_view *view, uint32_t slot);
    /* One of `candidates` (a subset of ready, never empty), or SCHED_NONE to leave the issue slot empty (strict
     * policies). */
    int (*pick)(void *state, const struct sched_view *view, const struct sched_set *candidates);
    /* The picked slot has issued. */
    void (*issued)(void *state, const struct sched_view *view, uint32_t slot);
};

/* registry.c */
const struct sched_ops *const *sched_list(size_t *count);
const struct sched_ops *sched_find(const char *name);
/* Parses "name" or "name:key=value,...". Gives ops and a malloc'ed options struct (NULL when the policy has none). On a
 * mistake false and one line in error: what is wrong and what would be right (nearest name, allowed values). */
bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size);

static inline bool sched_has(const struct sched_set *set, uint32_t slot) {
    return set->word[slot / 64] >> slot % 64 & 1;
}
static inline void sched_add(struct sched_set *set, uint32_t slot) { set->word[slot / 64] |= 1ull << slot % 64; }
static inline void sched_remove(struct sched_set *set, uint32_t slot) { set->word[slot / 64] &= ~(1ull << slot % 64); }
