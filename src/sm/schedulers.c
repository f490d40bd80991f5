/* Warp schedulers: allocates their memory and calls their policies. */
#include "sm/schedulers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void sm_schedulers_init(struct sm_schedulers *schedulers, const struct sched_ops *policy, const void *options,
                        uint32_t n, const struct sm_slots *slots) {
    *schedulers = (struct sm_schedulers){.n = n,
                                         .policy = sched_complete(policy),
                                         .options = options,
                                         .slot = base_allocate(slots->n, sizeof *schedulers->slot)};
    schedulers->sees_waits = sched_sees_waits(&schedulers->policy);
    for (uint32_t k = 0; k < n; k++)
        schedulers->state[k] =
            k && policy->has_one_state ? schedulers->state[0] : base_allocate(1, schedulers->policy.state_bytes);
    for (uint32_t s = 0; s < slots->n; s++)
        sched_add(&schedulers->slots[s % n], s);
    schedulers->view = (struct sched_view){
        .slot = schedulers->slot,
        .occupied = &slots->occupied,
        .ready = &slots->ready,
        .next_long = &schedulers->next_long,
        .next_load = &schedulers->next_load,
        .waits_long = &schedulers->waits_long,
        .pending = &schedulers->pending,
        .n_slots = slots->n,
        .n_schedulers = n,
    };
    for (uint32_t k = 0; k < CONFIG_MAX_SCHEDULERS; k++)
        schedulers->continued[k] = SM_NO_SLOT;
}

void sm_schedulers_free(struct sm_schedulers *schedulers) {
    for (uint32_t k = 0; k < (schedulers->policy.has_one_state ? 1 : schedulers->n); k++)
        free(schedulers->state[k]);
    free(schedulers->slot);
}

void sm_schedulers_begin(struct sm_schedulers *schedulers) {
    for (uint32_t k = 0; k < schedulers->n; k++) {
        schedulers->continued[k] = SM_NO_SLOT;
        if (k && schedulers->policy.has_one_state)
            continue;
        memset(schedulers->state[k], 0, schedulers->policy.state_bytes);
        schedulers->policy.start(schedulers->state[k], schedulers->options, schedulers->view.n_slots);
    }
}

void sm_schedulers_reject(const struct sm_schedulers *schedulers, int picked) {
    const struct sched_ops *policy = &schedulers->policy;
    if (picked != SCHED_NONE)
        config_plugin_broken("scheduler", policy->name, "pick() returned a slot that is no candidate");
    if (!policy->is_strict)
        config_plugin_broken("scheduler", policy->name, "pick() returned SCHED_NONE, and it is not strict");
}

void sm_schedulers_arrive(struct sm_schedulers *schedulers, uint32_t s, const struct sm_slot *slot, uint64_t cycle) {
    struct divergence_group *group = slot->group;
    if (group->warp_id == DIVERGENCE_NO_WARP)
        group->warp_id = s / schedulers->n;
    schedulers->slot[s] = (struct sched_slot){
        .age = slot->age,
        .warp_id = group->warp_id,
        .block = group->home->slot,
        .progress = group->row ? group->row->progress : 0,
    };
    sched_remove(&schedulers->stalled, s);
    schedulers->view.cycle = cycle;
    schedulers->policy.arrive(schedulers->state[s % schedulers->n], &schedulers->view, s);
}

void sm_schedulers_leave(struct sm_schedulers *schedulers, uint32_t s) {
    uint32_t k = s % schedulers->n;
    schedulers->policy.leave(schedulers->state[k], &schedulers->view, s);
    sched_remove(&schedulers->pending, s);
    sched_remove(&schedulers->waits_long, s);
    if (schedulers->continued[k] == (int)s)
        schedulers->continued[k] = SM_NO_SLOT;
}
