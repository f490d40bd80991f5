/* Least progress first: picks the warp with the lowest progress register, so that the warps of a barrier reach it at
 * roughly the same time, and none of them runs alone while the others wait for it.
 *
 * Source: Narasiman 2014, 9.2.2, which proposes the policy in two sentences: a register for each warp, changed by a
 * progress() that the programmer puts into the kernel, and priority for warps with less progress.
 *
 * Left open by the paper:
 * - The instruction sets the register (docs/extensions.md) instead of incrementing it: a kernel whose warps have
 *   unequal work can state how much is left rather than how much is done. A warp's register is 0 until the warp
 *   executes the instruction.
 * - Among equal warps (all warps, in a kernel without the instruction), the policy picks the next after the one that
 *   issued last (ties=rr, as in the dissertation), or greedy then oldest (ties=gto).
 * - Registers are compared across the SM (among=all), or only within the oldest block that can issue (among=block):
 *   warps of different blocks never wait for each other at a barrier, and blocks that run at the same pace reach their
 *   barriers at the same time.
 * - Barriers need nothing else: warps that wait at one are not candidates.
 *
 * The order is kept as sets that change only with the instruction, so that a pick takes a few ANDs. */
#include <stdio.h>

#include "sched/internal.h"

enum { AMONG_ALL, AMONG_BLOCK };
enum { TIES_RR, TIES_GTO };

struct options {
    uint32_t among, ties;
};

static const struct config_plugin_option option_table[] = {
    {"among", CONFIG_PLUGIN_CHOICE, offsetof(struct options, among), AMONG_ALL, 0, 0, "all|block",
     "compare all warps, or those of the oldest block that can issue"},
    {"ties", CONFIG_PLUGIN_CHOICE, offsetof(struct options, ties), TIES_RR, 0, 0, "rr|gto",
     "order of warps with equal progress"},
    {0},
};

struct progress {
    struct options options;
    int last;      /* the slot that issued last, or SCHED_NONE once its group has left */
    uint32_t turn; /* the slot after the last issued */
    uint32_t value[SCHED_MAX_SLOTS];
    struct sched_set less[SCHED_MAX_SLOTS];  /* by slot: the slots with less progress */
    struct sched_set equal[SCHED_MAX_SLOTS]; /* by slot: the slots with the same */
    struct sched_groups blocks;
    struct sched_order by_age; /* its known slots are the valid ones of the arrays above */
};

static void start(void *state, const void *options, uint32_t n_slots) {
    (void)n_slots;
    struct progress *progress = state;
    progress->options = *(const struct options *)options;
    progress->last = SCHED_NONE;
}

static void set_value(struct progress *progress, uint32_t slot, uint32_t value) {
    progress->value[slot] = value;
    struct sched_set others = progress->by_age.known;
    for (int i; (i = sched_first(&others)) != SCHED_NONE; sched_remove(&others, (uint32_t)i)) {
        uint32_t other = (uint32_t)i;
        sched_put(&progress->less[slot], other, progress->value[other] < value);
        sched_put(&progress->less[other], slot, value < progress->value[other]);
        sched_put(&progress->equal[slot], other, value == progress->value[other]);
        sched_put(&progress->equal[other], slot, value == progress->value[other]);
    }
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct progress *progress = state;
    sched_groups_add(&progress->blocks, slot, view->slot[slot].block);
    sched_order_add(&progress->by_age, slot, view->slot[slot].age);
    set_value(progress, slot, view->slot[slot].progress);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct progress *progress = state;
    sched_groups_remove(&progress->blocks, slot);
    sched_order_remove(&progress->by_age, slot);
    if (progress->last == (int)slot)
        progress->last = SCHED_NONE;
}

/* Returns the members of the set with the least progress. Each step moves to one with less. */
static struct sched_set least_of(const struct progress *progress, const struct sched_set *set) {
    uint32_t least = (uint32_t)sched_first(set);
    for (;;) {
        struct sched_set less = sched_and(set, &progress->less[least]);
        if (sched_is_empty(&less))
            return sched_and(set, &progress->equal[least]);
        least = (uint32_t)sched_first(&less);
    }
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)view;
    const struct progress *progress = state;
    struct sched_set among = *candidates;
    if (progress->options.among == AMONG_BLOCK) {
        uint32_t block = progress->blocks.of[sched_order_first(&progress->by_age, candidates)];
        among = sched_and(candidates, &progress->blocks.member[block]);
    }
    struct sched_set least = least_of(progress, &among);
    if (progress->options.ties == TIES_RR)
        return sched_next(&least, progress->turn);
    if (progress->last != SCHED_NONE && sched_has(&least, (uint32_t)progress->last))
        return progress->last;
    return sched_order_first(&progress->by_age, &least);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct progress *progress = state;
    progress->last = (int)slot;
    progress->turn = slot + 1;
    if (progress->value[slot] != view->slot[slot].progress)
        set_value(progress, slot, view->slot[slot].progress);
}

/* The dissertation gives no width for the register. Ours is the width of the instruction's operand. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "a 32-bit progress register per warp: 32 x %u (Narasiman 2014, 9.2.2; the width is ours)",
             warps);
    return 32 * (uint64_t)warps;
}

const struct sched_ops sched_progress = {
    .name = "progress",
    .help = "the warp with the least progress, as set by the kernel's progress instruction",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct progress),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
};
