/* Scoreboards of single lanes, for models whose groups are threads that each fetch an instruction of their own: a
 * thread that waits holds up nobody else. One entry for each slot, register and lane, and one for the lane's fetch. */
#include <string.h>

#include "sm/internal.h"

static uint64_t *entry(const struct sm *sm, uint32_t s, uint32_t reg) {
    return sm->lane_ready + ((size_t)s * (sm->program->n_registers + 1) + reg) * EXEC_LANES;
}

void sm_lanes_clear(struct sm *sm, uint32_t s) {
    memset(entry(sm, s, 0), 0, (sm->program->n_registers + 1) * EXEC_LANES * sizeof *sm->lane_ready);
    sm->lane_changed[s] = ~0u;
}

static void set(uint64_t *ready, uint32_t mask, uint64_t cycle) {
    for (; mask; mask &= mask - 1)
        ready[__builtin_ctz(mask)] = cycle;
}

void sm_lanes_set_results(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t cycle) {
    for (unsigned i = 0; i < timing->n_destinations; i++)
        set(entry(sm, s, timing->reg[i]), mask, cycle);
    sm->lane_changed[s] |= mask;
}

void sm_lanes_set_fetch(struct sm *sm, uint32_t s, uint32_t mask, uint64_t cycle) {
    set(entry(sm, s, sm->program->n_registers), mask, cycle);
    sm->lane_changed[s] |= mask;
}

static uint64_t when(const struct sm *sm, uint32_t s, uint32_t lane, uint32_t pc) {
    const struct sm_timing *timing = &sm->program->timing[pc];
    uint64_t ready = entry(sm, s, sm->program->n_registers)[lane];
    for (unsigned i = 0; i < timing->n_registers; i++) {
        uint64_t operand = entry(sm, s, timing->reg[i])[lane];
        ready = operand > ready ? operand : ready;
    }
    return ready;
}

void sm_lanes_changed(struct sm *sm, uint32_t s) { sm->lane_changed[s] = ~0u; }

/* Brings the slot's lanes up to date; those that have an instruction, and these. */
static uint32_t look(const struct sm *sm, uint32_t s, const uint32_t **pc) {
    uint32_t mask;
    *pc = sm->divergence->lane_pcs(sm->model, sm->slot[s].group, &mask);
    for (uint32_t left = mask & sm->lane_changed[s]; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        sm->lane_when[s][lane] = when(sm, s, lane, (*pc)[lane]);
    }
    sm->lane_changed[s] &= ~mask;
    return mask;
}

uint64_t sm_lanes_earliest(const struct sm *sm, uint32_t s, uint64_t cycle, uint32_t *first_pc) {
    const uint32_t *pc;
    const uint32_t mask = look(sm, s, &pc);
    const uint64_t *ready = sm->lane_when[s];
    uint64_t earliest = SM_NEVER;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        earliest = ready[lane] < earliest ? ready[lane] : earliest;
    }
    earliest = earliest > cycle ? earliest : cycle;
    bool is_found = false;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (ready[lane] > earliest)
            continue;
        bool goes_to_memory = sm->program->timing[pc[lane]].unit == SM_UNIT_LDST;
        if (!is_found || !goes_to_memory)
            *first_pc = pc[lane];
        is_found = true;
        if (!goes_to_memory)
            break;
    }
    return earliest;
}

uint32_t sm_lanes_ready(const struct sm *sm, uint32_t s, uint32_t units, uint32_t mask, uint64_t cycle) {
    const uint32_t *pc;
    uint32_t ready = 0;
    if (!sm_ldst_has_room(sm))
        units &= ~(1u << SM_UNIT_LDST);
    for (uint32_t left = mask & look(sm, s, &pc); left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (sm->lane_when[s][lane] <= cycle)
            ready |= (units >> sm->program->timing[pc[lane]].unit & 1) << lane;
    }
    return ready;
}
