/* The warp schedulers of an SM: the state of each scheduler's policy, and everything about the slots that a policy can
 * see. Slot s belongs to scheduler s modulo the number of schedulers. */
#pragma once

#include "sched/sched.h"
#include "sm/slots.h"

struct sm_schedulers {
    uint32_t n;
    bool sees_waits;                               /* the policy wants to know of every wait */
    int continued[CONFIG_MAX_SCHEDULERS];          /* the slot whose instruction has bundles left, or SM_NO_SLOT */
    uint64_t busy_until[CONFIG_MAX_SCHEDULERS];    /* it issues nothing before this cycle */
    struct sched_set slots[CONFIG_MAX_SCHEDULERS]; /* of each */
    struct sched_set stalled;                      /* slots that, as far as the policy knows, wait */
    struct sched_set next_long, next_load, waits_long, pending; /* parts of the view */
    struct sched_view view;
    struct sched_slot *slot; /* part of the view */
    void *state[CONFIG_MAX_SCHEDULERS];
    struct sched_ops policy; /* its hooks, or those of wide.c before them */
    const void *options;
    struct sm_wide *wide; /* NULL: the policy asks for nothing beyond the slots */
};

void sm_schedulers_init(struct sm_schedulers *schedulers, const struct sched_ops *policy, const void *options,
                        uint32_t n, const struct sm_slots *slots);
void sm_schedulers_free(struct sm_schedulers *schedulers);
/* Before a grid. */
void sm_schedulers_begin(struct sm_schedulers *schedulers);
/* Ends the run if the policy may not pick this. */
void sm_schedulers_reject(const struct sm_schedulers *schedulers, int picked);
/* A group arrives in the slot, or leaves it. */
void sm_schedulers_arrive(struct sm_schedulers *schedulers, uint32_t s, const struct sm_slot *slot, uint64_t cycle);
void sm_schedulers_leave(struct sm_schedulers *schedulers, uint32_t s);

/* The slot's group starts to wait: for a long operation if is_long, for other groups or a fence if is_pending. */
static inline void sm_schedulers_stall(struct sm_schedulers *schedulers, uint32_t s, uint64_t cycle, bool is_long,
                                       bool is_pending) {
    sched_put(&schedulers->waits_long, s, is_long);
    sched_put(&schedulers->pending, s, is_pending);
    sched_add(&schedulers->stalled, s);
    if (!schedulers->sees_waits)
        return;
    schedulers->view.cycle = cycle;
    schedulers->policy.stall(schedulers->state[s % schedulers->n], &schedulers->view, s, is_long);
}

/* The slot's group no longer waits. */
static inline void sm_schedulers_wake(struct sm_schedulers *schedulers, uint32_t s, uint64_t cycle) {
    if (!sched_has(&schedulers->stalled, s))
        return;
    sched_remove(&schedulers->waits_long, s);
    sched_remove(&schedulers->pending, s);
    sched_remove(&schedulers->stalled, s);
    if (!schedulers->sees_waits)
        return;
    schedulers->view.cycle = cycle;
    schedulers->policy.wake(schedulers->state[s % schedulers->n], &schedulers->view, s);
}

/* The groups of these slots of a word no longer wait. Only if the policy does not want to know of every wait. */
static inline void sm_schedulers_wake_word(struct sm_schedulers *schedulers, uint64_t woken, uint32_t word) {
    woken &= schedulers->stalled.word[word];
    schedulers->waits_long.word[word] &= ~woken;
    schedulers->pending.word[word] &= ~woken;
    schedulers->stalled.word[word] &= ~woken;
}

/* The slot that scheduler k picked has issued. */
static inline void sm_schedulers_issued(struct sm_schedulers *schedulers, uint32_t k, uint32_t s, uint64_t cycle) {
    schedulers->view.cycle = cycle;
    schedulers->policy.issued(schedulers->state[k], &schedulers->view, s);
}

/* Returns the slot that scheduler k issues, one of `candidates`, or SM_NO_SLOT. */
static inline int sm_schedulers_pick(struct sm_schedulers *schedulers, uint32_t k, const struct sched_set *candidates,
                                     uint64_t cycle) {
    int continued = schedulers->continued[k];
    if (sched_is_empty(candidates))
        return SM_NO_SLOT;
    if (continued != SM_NO_SLOT)
        return sched_has(candidates, (uint32_t)continued) ? continued : SM_NO_SLOT;
    schedulers->view.cycle = cycle;
    int picked = schedulers->policy.pick(schedulers->state[k], &schedulers->view, candidates);
    if (picked >= 0 && picked < SCHED_MAX_SLOTS && sched_has(candidates, (uint32_t)picked))
        return picked;
    sm_schedulers_reject(schedulers, picked);
    return SM_NO_SLOT;
}
