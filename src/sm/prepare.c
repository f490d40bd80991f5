/* Determines when a group may issue. This happens once, when the group's next instruction becomes known. The group may
 * issue when the instruction has been fetched and the registers it needs are ready. Until then the group sleeps on the
 * wheel, or off the wheel while a load is unanswered.
 *
 * The three pipelines differ only in that rule. barrel: a group is fetched again when its instruction has left the
 * pipeline and all its accesses have ended (Narasiman). scoreboard: when fetch, registers and unit allow it.
 * switch-on-access: every result is ready in the next cycle except results from memory, for which the group waits (Meng
 * 2010, 3.3: when the group accesses the cache, by a load or a store; in 5.1 both diverge). */
#include "sm/prepare.h"

/* A group that itself holds back threads in flight (lwm with refetch=first) issues branches with the other threads,
 * like any instruction (Narasiman 2014, 4.2.2). Returns, exits and barriers change the group or the block, so they
 * wait. */
static bool may_overlap_accesses(const struct sm_timing *timing) {
    return !timing->is_control || timing->is_branch || timing->is_jump;
}

/* Returns whether the group would wait for memory in the next cycle, and other lanes of its row run instead. */
static bool has_switched(struct sm *sm, struct divergence_group *group, const struct sm_timing *timing,
                         uint64_t cycle) {
    const struct divergence_memory_ops *memory = sm->divergence->memory;
    return memory && memory->stalls && sm_boards_data(sm, group, timing, group->mask) > cycle + 1 &&
           memory->stalls(sm->model, group, cycle);
}

/* Finds the cycle from which the known instruction may issue. If lanes have their own scoreboards, this is not before
 * `lanes`, the first lane's cycle. */
static void wait_for_operands(struct sm *sm, uint32_t s, uint64_t lanes, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    const struct divergence_group *group = slot->group;
    const struct sm_timing *timing = &sm->program->timing[group->pc];
    if (timing->is_release && !slot->is_fenced) {
        slot->fetch_ready = (slot->fetch_ready > cycle ? slot->fetch_ready : cycle) + sm_fence_cycles(sm, slot);
        slot->is_fenced = true;
    }
    uint64_t operands = group->ready_cycle > lanes ? group->ready_cycle : lanes;
    uint64_t access = sm_next_access(sm, slot, timing);
    operands = access > operands ? access : operands;
    const uint32_t *reg = sm_registers(sm->program, timing);
    uint64_t fetched = slot->is_continued ? 0 : slot->fetch_ready; /* the first bundle was fetched for all */
    if (sm->boards.board) {
        uint64_t ready = sm_boards_operands(sm, group, timing, group->mask);
        uint64_t row = sm_boards_fetched(sm, group, group->mask);
        if (has_switched(sm, slot->group, timing, cycle)) {
            sm_prepare(sm, s, cycle);
            return;
        }
        operands = ready > operands ? ready : operands;
        fetched = row > fetched ? row : fetched;
    } else if (sm_has_scoreboard(sm) && !sm->lanes.ready)
        for (unsigned i = 0; i < timing->n_registers; i++) {
            uint64_t ready = slot->register_ready[reg[i]];
            operands = ready > operands ? ready : operands;
        }
    bool awaits_results = timing->is_call && timing->awaits_others;
    if (awaits_results && slot->result_ready > operands)
        operands = slot->result_ready;
    bool waits_for_all = sm_group_has_accesses(sm, s) &&
                         (timing->is_fence || timing->is_barrier || (awaits_results && slot->n_loads) ||
                          (!sm_has_scoreboard(sm) && !(group->overlaps && may_overlap_accesses(timing))));
    if (operands == SM_NEVER || group->is_blocked || waits_for_all) {
        sm_slots_set_state(&sm->slots, s, SM_SLOT_MEMORY);
        sm_schedulers_stall(&sm->schedulers, s, cycle, true, timing->is_fence);
        return;
    }
    sm_wait_until(sm, s, operands, fetched, cycle);
}

static void wait_for_others(struct sm *sm, uint32_t s, uint64_t cycle) {
    sm_slots_set_state(&sm->slots, s, SM_SLOT_BARRIER);
    sm_schedulers_stall(&sm->schedulers, s, cycle, false, true);
}

/* Prepares a group to be re-formed: it sleeps until its last result is ready, and wake_slots() then calls resume(). */
static void drain(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    bool waits_for_all = !sm_has_scoreboard(sm);
    if (waits_for_all ? slot->n_accesses : slot->n_loads) {
        sm_slots_set_state(&sm->slots, s, SM_SLOT_MEMORY);
        sm_schedulers_stall(&sm->schedulers, s, cycle, true, false);
        return;
    }
    uint64_t wake = waits_for_all || slot->fetch_ready > slot->result_ready ? slot->fetch_ready : slot->result_ready;
    if (wake <= cycle)
        wake = cycle + 1;
    if (wake > cycle + 1)
        sm_schedulers_stall(&sm->schedulers, s, cycle, false, false);
    slot->is_draining = true;
    sched_remove(&sm->slots.next_visible, s);
    slot->traits = SM_NO_TRAITS; /* its next instruction is not known */
    sm_slots_set_state(&sm->slots, s, SM_SLOT_DEPENDENCY);
    sm_sleep_until(sm, s, cycle, wake);
}

void sm_prepare(struct sm *sm, uint32_t s, uint64_t cycle) {
    sm->slots.slot[s].is_draining = false;
    if (!sched_is_empty(&sm->fetch.refused))
        sched_remove(&sm->fetch.refused, s);
    enum divergence_status status = sm->slots.slot[s].group->status;
    if (sm->slots.slot[s].waits_for_copies && status != DIVERGENCE_ENDED) {
        sm_slots_set_state(&sm->slots, s, SM_SLOT_MEMORY);
        sm_schedulers_stall(&sm->schedulers, s, cycle, true, false);
        return;
    }
    switch (status) {
    case DIVERGENCE_ENDED:
        if (sm->follower)
            sm_observe_departure(sm, s, false);
        sm_finish_slot(sm, s);
        return;
    case DIVERGENCE_WAITS:
        wait_for_others(sm, s, cycle);
        return;
    case DIVERGENCE_DRAINS:
        drain(sm, s, cycle);
        return;
    case DIVERGENCE_RUNS:
        break;
    }
    uint32_t pc = sm->slots.slot[s].group->pc;
    uint64_t lanes = sm->lanes.ready ? sm_lanes_earliest(sm, s, cycle + 1, &pc) : 0;
    sm_classify(sm, s, pc, true);
    if (sm->prefetches)
        sm_prefetch_group(sm, &sm->slots.slot[s], pc);
    if (sm_fetch_has_line(&sm->fetch, sm->program, &sm->slots.slot[s]) || sm_fetch_line(sm, s, cycle))
        wait_for_operands(sm, s, lanes, cycle);
}
