/* The usual part of prepare.c, for code that runs once per instruction. */
#pragma once

#include <assert.h>

#include "sm/internal.h"

static inline void sm_sleep_until(struct sm *sm, uint32_t s, uint64_t cycle, uint64_t wake) {
    assert(wake > sm->last_cycle); /* otherwise it would sleep until the wheel comes round */
    sm->slots.slot[s].wake = wake;
    sm_wheel_add(&sm->wheel, s, cycle, wake);
}

/* Tells the schedulers and units about the slot's next instruction. has_other_lanes: the group may have changed since
 * its last one. */
static inline void sm_classify(struct sm *sm, uint32_t s, uint32_t pc, bool has_other_lanes) {
    struct sm_slot *slot = &sm->slots.slot[s];
    const struct divergence_group *group = slot->group;
    struct sched_slot *view = &sm->schedulers.slot[s];
    const struct sm_timing *timing = &sm->program->timing[pc];
    uint32_t changed = slot->traits ^ timing->traits;
    view->pc = pc;
    if (changed) {
        slot->traits = timing->traits;
        sm_units_move(&sm->units, s, slot->unit, timing->unit);
        slot->unit = timing->unit;
    }
    if (changed & ~(uint32_t)SM_TRAITS_UNIT) {
        sched_put(&sm->schedulers.next_long, s, timing->is_long);
        sched_put(&sm->schedulers.next_load, s, timing->is_long && timing->is_load);
        sched_put(&sm->slots.next_visible, s, timing->is_visible_to_others);
    }
    if (has_other_lanes)
        view->active_lanes = group->row ? sm_lanes_in(group->mask) : group->n_threads;
    view->passed = group->passed;
}

/* Returns the cycle from which the slot's next instruction, if it is an access, may follow the one before. */
static inline uint64_t sm_next_access(const struct sm *sm, const struct sm_slot *slot, const struct sm_timing *timing) {
    return sm->access_cycles > 1 && sm_takes_turns(timing) ? *sm_access_entry(sm, slot) : 0;
}

/* Lets the group sleep until its registers are ready and its instruction has been fetched. */
static inline void sm_wait_until(struct sm *sm, uint32_t s, uint64_t operands, uint64_t fetched, uint64_t cycle) {
    uint64_t wake = operands > fetched ? operands : fetched;
    if (wake <= cycle)
        wake = cycle + 1;
    if (wake > cycle + 1)
        sm_schedulers_stall(&sm->schedulers, s, cycle, false, false);
    sm_slots_set_state(&sm->slots, s, operands > fetched ? SM_SLOT_DEPENDENCY : SM_SLOT_FETCH);
    sm_sleep_until(sm, s, cycle, wake);
}

/* What sm_prepare() does on a plain SM, after it has issued an instruction of the slot's group or served its loads. */
static inline __attribute__((always_inline)) void sm_prepare_next(struct sm *sm, uint32_t s, bool has_other_lanes,
                                                                  uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    const struct divergence_group *group = slot->group;
    const struct sm_timing *timing = &sm->program->timing[group->pc];
    if (group->status != DIVERGENCE_RUNS || timing->awaits_others || slot->waits_for_copies) {
        sm_prepare(sm, s, cycle);
        return;
    }
    sm_classify(sm, s, group->pc, has_other_lanes);
    if (!sm_fetch_has_line(&sm->fetch, sm->program, slot) && !sm_fetch_line(sm, s, cycle))
        return;
    uint64_t operands = group->ready_cycle, access = sm_next_access(sm, slot, timing);
    operands = access > operands ? access : operands;
    for (unsigned i = 0; i < timing->n_registers; i++) {
        uint64_t ready = slot->register_ready[timing->reg[i]];
        operands = ready > operands ? ready : operands;
    }
    if (operands == SM_NEVER || group->is_blocked) {
        sm_slots_set_state(&sm->slots, s, SM_SLOT_MEMORY);
        sm_schedulers_stall(&sm->schedulers, s, cycle, true, false);
        return;
    }
    sm_wait_until(sm, s, operands, slot->fetch_ready, cycle);
}
