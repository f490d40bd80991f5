/* Least progress first: the warp whose progress register is the lowest, so that those that will meet at a barrier come
 * there at roughly the same time, and none of them is left to run alone while the others wait for it.
 *
 * Source: Narasiman 2014, 9.2.2, which proposes it in two sentences: a register for each warp, changed by a progress()
 * that the programmer puts into the kernel, and priority for warps that have made less progress.
 *
 * Where it is silent:
 * - The instruction sets the register (docs/isa.md), it does not count up: so a kernel whose warps have unequal work
 *   can say how much is left rather than how much is done. A warp's register is 0 until it executes one.
 * - Of equal warps, and so of all warps of a kernel without the instruction, the next after the last issued (ties=rr,
 *   as in the dissertation), or greedy then oldest (ties=gto).
 * - Registers are compared across the SM (among=all). among=block does so inside a block only, the oldest block that
 *   can issue going first: warps of different blocks never meet at a barrier, and blocks that run at the same pace come
 *   to theirs at the same time.
 * - Nothing else is done about barriers: warps that wait at one are no candidates.
 *
 * Who is behind whom is kept as sets and changes with the instruction only, so that a pick takes a few ANDs. */
#include <stdio.h>

#include "sched/internal.h"

enum { AMONG_ALL, AMONG_BLOCK };
enum { TIES_RR, TIES_GTO };

struct options {
    uint32_t among, ties;
};

static const struct config_parameter options[] = {
    {"among", CONFIG_PARAMETER_CHOICE, offsetof(struct options, among), AMONG_ALL, 0, 0, "all|block",
     "compare all warps, or those of the oldest block that can issue"},
    {"ties", CONFIG_PARAMETER_CHOICE, offsetof(struct options, ties), TIES_RR, 0, 0, "rr|gto",
     "order of warps with equal progress"},
    {0},
};

struct progress {
    struct options options;
    int last;      /* issued last and still there, or SCHED_NONE */
    uint32_t turn; /* the slot behind the last issued */
    uint32_t value[SCHED_MAX_SLOTS];
    struct sched_set less[SCHED_MAX_SLOTS], equal[SCHED_MAX_SLOTS]; /* by slot: those with less, those with as much */
    struct sched_groups blocks;
    struct sched_order by_age; /* its known slots are those that mean something above */
};

static void start(void *state, const void *given, uint32_t n_slots) {
    (void)n_slots;
    struct progress *progress = state;
    progress->options = *(const struct options *)given;
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

/* Those of the set that have the least; each step goes to one with less. */
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

/* The dissertation has the register and counts nothing; its width is that of the instruction's operand. */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    (void)given;
    uint32_t warps = machine->threads_per_sm / machine->warp_size;
    snprintf(formula, size,
             "a progress register of 32 bits for each warp: 32 x %u (Narasiman 2014, 9.2.2; the width "
             "is ours)",
             warps);
    return 32 * (uint64_t)warps;
}

const struct sched_ops sched_progress = {
    .name = "progress",
    .help = "the warp that has made the least progress, as its kernel says with the progress instruction",
    .option = options,
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
