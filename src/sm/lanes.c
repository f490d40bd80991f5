/* Scoreboards of single lanes, for models whose groups are threads that each fetch an instruction of their own: a
 * thread that waits holds up nobody else. One entry for each slot, register and lane, and one for the lane's fetch. */
#include <string.h>

#include "sm/internal.h"

static uint64_t *entry(const struct sm *sm, uint32_t s, uint32_t reg) {
    return sm->lane_ready + ((size_t)s * (sm->program->n_registers + 1) + reg) * EXEC_LANES;
}

void sm_lanes_clear(struct sm *sm, uint32_t s) {
    memset(entry(sm, s, 0), 0, (sm->program->n_registers + 1) * EXEC_LANES * sizeof *sm->lane_ready);
    sm->lanes[s].changed = ~0u;
}

static void set(uint64_t *ready, uint32_t mask, uint64_t cycle) {
    for (; mask; mask &= mask - 1)
        ready[__builtin_ctz(mask)] = cycle;
}

void sm_lanes_set_results(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t cycle) {
    for (unsigned i = 0; i < timing->n_destinations; i++)
        set(entry(sm, s, timing->reg[i]), mask, cycle);
    sm->lanes[s].changed |= mask;
}

void sm_lanes_set_fetch(struct sm *sm, uint32_t s, uint32_t mask, uint64_t cycle) {
    set(entry(sm, s, sm->program->n_registers), mask, cycle);
    sm->lanes[s].changed |= mask;
}

void sm_lanes_changed(struct sm *sm, uint32_t s) { sm->lanes[s].changed = ~0u; }

static uint64_t when(const struct sm *sm, uint32_t s, uint32_t lane, const struct sm_timing *timing) {
    uint64_t ready = entry(sm, s, sm->program->n_registers)[lane];
    for (unsigned i = 0; i < timing->n_registers; i++) {
        uint64_t operand = entry(sm, s, timing->reg[i])[lane];
        ready = operand > ready ? operand : ready;
    }
    return ready;
}

/* Finds out anew about these lanes. */
static void examine(const struct sm *sm, uint32_t s, const uint32_t *pc, uint32_t mask) {
    struct sm_lanes *lanes = &sm->lanes[s];
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        lanes->of_unit[unit] &= ~mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct sm_timing *timing = &sm->program->timing[pc[lane]];
        lanes->when[lane] = when(sm, s, lane, timing);
        lanes->of_unit[timing->unit] |= 1u << lane;
    }
    lanes->changed &= ~mask;
    lanes->next = 0;
}

/* Brings the slot's lanes up to date; those that have an instruction, and these. */
static uint32_t look(const struct sm *sm, uint32_t s, uint64_t cycle, const uint32_t **pc) {
    struct sm_lanes *lanes = &sm->lanes[s];
    uint32_t mask;
    *pc = sm->divergence->joint->lane_pcs(sm->model, sm->slot[s].group, &mask);
    if (mask & lanes->changed)
        examine(sm, s, *pc, mask & lanes->changed);
    if (cycle >= lanes->at && cycle < lanes->next)
        return mask;
    uint64_t next = SM_NEVER;
    uint32_t ready = 0;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++) { /* all of them, without branches: those that changed apart */
        bool is_ready = lanes->when[lane] <= cycle;
        uint64_t later = is_ready ? SM_NEVER : lanes->when[lane];
        next = later < next ? later : next;
        ready |= (uint32_t)is_ready << lane;
    }
    lanes->at = cycle;
    lanes->next = next;
    lanes->ready = ready & ~lanes->changed;
    return mask;
}

uint64_t sm_lanes_earliest(const struct sm *sm, uint32_t s, uint64_t cycle, uint32_t *first_pc) {
    const uint32_t *pc;
    const uint32_t mask = look(sm, s, cycle, &pc);
    const struct sm_lanes *lanes = &sm->lanes[s];
    uint32_t first = lanes->ready & mask;
    uint64_t earliest = first ? cycle : SM_NEVER;
    for (uint32_t left = first ? 0 : mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (lanes->when[lane] < earliest)
            first = 0;
        if (lanes->when[lane] <= earliest)
            first |= 1u << lane;
        earliest = lanes->when[lane] < earliest ? lanes->when[lane] : earliest;
    }
    uint32_t others = first & ~lanes->of_unit[SM_UNIT_LDST];
    if (first)
        *first_pc = pc[__builtin_ctz(others ? others : first)];
    return earliest;
}

uint32_t sm_lanes_ready(const struct sm *sm, uint32_t s, uint32_t units, uint32_t mask, uint64_t cycle) {
    const uint32_t *pc;
    uint32_t with_unit = 0, own = look(sm, s, cycle, &pc);
    if (!sm_ldst_has_room(sm))
        units &= ~(1u << SM_UNIT_LDST);
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        with_unit |= units >> unit & 1 ? sm->lanes[s].of_unit[unit] : 0;
    return sm->lanes[s].ready & with_unit & own & mask;
}
