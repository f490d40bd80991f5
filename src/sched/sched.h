/* Warp schedulers: which warp issues next. A scheduler sees slots (each holds a warp, or another group of the
 * divergence model) through a small read-only view and returns a slot. One file per policy, ending in its operations
 * table; schedulers.def lists them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/machine.h"
#include "config/plugin.h"
#include "sched/set.h"

/* What a scheduler may know of a slot. The SM keeps it up to date. */
struct sched_slot {
    uint64_t age;      /* order of arrival on the SM: smaller is older */
    uint32_t pc;       /* of the next instruction */
    uint32_t warp_id;  /* number among the warps of this scheduler, below SCHED_MAX_SLOTS; decides fetch groups and id
                          order. Splits of one warp may have the same. */
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
     * otherwise wait forever. */
    const struct sched_set *pending;
    uint32_t n_slots;
    uint64_t cycle;
};

/* No hook but the last is NULL. Hooks see an up-to-date view. A scheduler sees only its own slots; where an SM has
 * several schedulers, each has its own state. Hooks other than start never allocate, and depend only on their
 * arguments, so that equal calls lead to equal picks. */
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
     * becomes another, stall() is called again. A group whose unit is busy does not wait; it is just no candidate. */
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

/* registry.c */
const struct sched_ops *const *sched_list(size_t *count);
const struct sched_ops *sched_find(const char *name);
/* Parses "name" or "name:key=value,...". Stores ops and a malloc'ed options struct (NULL when the policy has none). On
 * a mistake it returns false and writes one line to `error`: what is wrong and what would be right (nearest name,
 * allowed values). */
bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size);
/* The same on a machine with these rules (config_machine.rules): a preset of that name stands in for the defaults. */
bool sched_parse_by(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                    size_t error_size);
/* Returns whether stall() and wake() do anything: most policies use the view's sets instead. */
bool sched_sees_waits(const struct sched_ops *ops);
/* Writes the text that sched_parse() reads as these options, with every option named:
 * `two-level:group=8,switch=empty,...`. */
void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size);
