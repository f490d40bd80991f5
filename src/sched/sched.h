/* Warp schedulers: who issues next. A scheduler sees slots (a warp, or whatever group the divergence model runs in one)
 * through a small read-only view and returns a slot. One file per policy, ending in its operations table;
 * schedulers.def lists them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/machine.h"
#include "config/plugin.h"
#include "sched/set.h"

/* What a scheduler may know of a slot. Kept up to date by the SM. */
struct sched_slot {
    uint64_t age;          /* order of arrival on the SM: smaller is older */
    uint32_t pc;           /* of the next instruction */
    uint32_t warp_id;      /* number among the warps of this scheduler, below SCHED_MAX_SLOTS: fetch groups and id order
                            * go by it. Splits of one warp may share it. */
    uint32_t block;        /* block slot on the SM, below SCHED_MAX_SLOTS */
    uint32_t progress;     /* value of the progress instruction, 0 without */
    uint32_t active_lanes; /* of the next instruction */
    uint32_t passed;       /* post-dominators that the group has passed */
};

/* Facts with one bit a slot are sets, so that a policy narrows its candidates with one AND. Only bits of occupied slots
 * mean something. */
struct sched_view {
    const struct sched_slot *slot;
    const struct sched_set *occupied;   /* slots that hold a live group */
    const struct sched_set *ready;      /* may issue this cycle */
    const struct sched_set *next_long;  /* the next instruction is a load or store to global, local or texture space */
    const struct sched_set *next_load;  /* ... a load of those spaces */
    const struct sched_set *waits_long; /* blocked by the result of a global, local or texture access */
    /* At a barrier or fence, waits for an atomic, not yet started, or waits for other groups in any other way. What
     * only another group's progress can end must be here: strict policies pass over these slots and would else wait for
     * ever. */
    const struct sched_set *pending;
    uint32_t n_slots;
    uint64_t cycle;
};

/* No hook but the last is NULL. Hooks see a view that is up to date. A scheduler hears only of its own slots; where an
 * SM has several schedulers, each has its own state. Hooks and pick never allocate and depend on nothing but what they
 * are told, so that equal calls give equal picks. */
struct sched_ops {
    const char *name, *help;
    const struct config_parameter *option; /* `two-level:group=8,switch=stall`; ends with a NULL name; may be NULL */
    size_t options_bytes, state_bytes;
    bool is_strict; /* pick may give SCHED_NONE although there are candidates */
    /* state is zeroed; options are filled in. Called before cycle 0 and for each SM's each scheduler. */
    void (*start)(void *state, const void *options, uint32_t n_slots);
    /* A slot gets a new group / its group has finished. A group may arrive pending; wake() tells when it no longer is.
     */
    void (*arrive)(void *state, const struct sched_view *view, uint32_t slot);
    void (*leave)(void *state, const struct sched_view *view, uint32_t slot);
    /* The group in slot began to wait (for a long-latency result when is_long; among the pending ones, for other groups
     * or a fence; else for a short result or its next instruction) / is no longer waiting. A wait that becomes another
     * kind of wait is another stall(). A group that does not wait may yet find its unit busy: it is just not a
     * candidate. */
    void (*stall)(void *state, const struct sched_view *view, uint32_t slot, bool is_long);
    void (*wake)(void *state, const struct sched_view *view, uint32_t slot);
    /* One of `candidates` (a subset of ready, never empty), or SCHED_NONE to leave the issue slot empty (strict
     * policies). */
    int (*pick)(void *state, const struct sched_view *view, const struct sched_set *candidates);
    /* The picked slot has issued. Its stall(), if it must wait now, and its leave() follow. */
    void (*issued)(void *state, const struct sched_view *view, uint32_t slot);
    /* Storage that it adds to an SM in bits as its paper counts it, with the formula in words; the one hook that may be
     * NULL: no paper counts it. */
    uint64_t (*cost_bits)(const void *options, const struct config_machine *machine, char *formula, size_t size);
};

/* registry.c */
const struct sched_ops *const *sched_list(size_t *count);
const struct sched_ops *sched_find(const char *name);
/* Parses "name" or "name:key=value,...". Gives ops and a malloc'ed options struct (NULL when the policy has none). On a
 * mistake false and one line in error: what is wrong and what would be right (nearest name, allowed values). */
bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size);
/* Whether stall() and wake() do anything: most policies look at the view's sets instead. */
bool sched_hears_waits(const struct sched_ops *ops);
/* The text that sched_parse() would read as these options, every option named: `two-level:group=8,switch=empty,...`. */
void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size);
