/* Scoreboards of individual lanes, for models in which each thread of a group fetches its own instruction, so that a
 * waiting thread does not delay the others. There is one entry for each slot, register and lane, and one for the lane's
 * fetch. */
#include "sm/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sm/internal.h"

void sm_lanes_begin(struct sm *sm) {
    if (!sm_model_has_lane_pcs(sm->divergence) || !sm_has_scoreboard(sm))
        return;
    size_t n_entries = (size_t)sm->slots.n * sm->slots.n_registers * EXEC_LANES;
    sm->lanes = (struct sm_lanes){.ready = base_allocate(n_entries, sizeof *sm->lanes.ready),
                                  .slot = base_allocate(sm->slots.n, sizeof *sm->lanes.slot)};
}

void sm_lanes_end(struct sm_lanes *lanes) {
    free(lanes->ready);
    free(lanes->slot);
    *lanes = (struct sm_lanes){0};
}

static uint64_t *entry(const struct sm *sm, uint32_t s, uint32_t reg) {
    return sm->lanes.ready + ((size_t)s * sm->slots.n_registers + reg) * EXEC_LANES;
}

void sm_lanes_clear(struct sm *sm, uint32_t s) {
    memset(entry(sm, s, 0), 0, sm->slots.n_registers * EXEC_LANES * sizeof *sm->lanes.ready);
    sm->lanes.slot[s].changed = ~0u;
}

static void set(uint64_t *ready, uint32_t mask, uint64_t cycle) {
    for (; mask; mask &= mask - 1)
        ready[__builtin_ctz(mask)] = cycle;
}

void sm_lanes_set_results(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t cycle) {
    const uint32_t *reg = sm_registers(sm->program, timing);
    for (unsigned i = 0; i < timing->n_destinations; i++)
        set(entry(sm, s, reg[i]), mask, cycle);
    sm->lanes.slot[s].changed |= mask;
}

void sm_lanes_set_fetch(struct sm *sm, uint32_t s, uint32_t mask, uint64_t cycle) {
    set(entry(sm, s, sm->program->n_registers), mask, cycle);
    sm->lanes.slot[s].changed |= mask;
}

void sm_lanes_changed(struct sm *sm, uint32_t s) { sm->lanes.slot[s].changed = ~0u; }

static uint64_t issue_cycle(const struct sm *sm, uint32_t s, uint32_t lane, const struct sm_timing *timing) {
    uint64_t ready = entry(sm, s, sm->program->n_registers)[lane];
    const uint32_t *reg = sm_registers(sm->program, timing);
    for (unsigned i = 0; i < timing->n_registers; i++) {
        uint64_t operand = entry(sm, s, reg[i])[lane];
        ready = operand > ready ? operand : ready;
    }
    return ready;
}

/* Determines when these lanes can issue, and on which unit. */
static void update_lanes(const struct sm *sm, uint32_t s, const uint32_t *pc, uint32_t mask) {
    struct sm_lane_times *lanes = &sm->lanes.slot[s];
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        lanes->of_unit[unit] &= ~mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct sm_timing *timing = &sm->program->timing[pc[lane]];
        lanes->ready_cycle[lane] = issue_cycle(sm, s, lane, timing);
        lanes->of_unit[timing->unit] |= 1u << lane;
    }
    lanes->changed &= ~mask;
    lanes->valid_until = 0;
}

/* Updates the slot's lanes. Returns the lanes that have an instruction, and sets *pc to their instructions. */
static uint32_t update_slot(const struct sm *sm, uint32_t s, uint64_t cycle, const uint32_t **pc) {
    struct sm_lane_times *lanes = &sm->lanes.slot[s];
    uint32_t mask;
    *pc = sm->divergence->joint->lane_pcs(sm->model, sm->slots.slot[s].group, &mask);
    if (mask & lanes->changed)
        update_lanes(sm, s, *pc, mask & lanes->changed);
    if (cycle >= lanes->valid_from && cycle < lanes->valid_until)
        return mask;
    uint64_t next = SM_NEVER;
    uint32_t ready = 0;
    for (uint32_t lane = 0; lane < EXEC_LANES;
         lane++) { /* all lanes, without branches; the changed ones are masked out below */
        bool is_ready = lanes->ready_cycle[lane] <= cycle;
        uint64_t later = is_ready ? SM_NEVER : lanes->ready_cycle[lane];
        next = later < next ? later : next;
        ready |= (uint32_t)is_ready << lane;
    }
    lanes->valid_from = cycle;
    lanes->valid_until = next;
    lanes->ready = ready & ~lanes->changed;
    return mask;
}

uint64_t sm_lanes_earliest(const struct sm *sm, uint32_t s, uint64_t cycle, uint32_t *first_pc) {
    const uint32_t *pc;
    const uint32_t mask = update_slot(sm, s, cycle, &pc);
    const struct sm_lane_times *lanes = &sm->lanes.slot[s];
    uint32_t first = lanes->ready & mask;
    uint64_t earliest = first ? cycle : SM_NEVER;
    for (uint32_t left = first ? 0 : mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (lanes->ready_cycle[lane] < earliest)
            first = 0;
        if (lanes->ready_cycle[lane] <= earliest)
            first |= 1u << lane;
        earliest = lanes->ready_cycle[lane] < earliest ? lanes->ready_cycle[lane] : earliest;
    }
    uint32_t others = first & ~lanes->of_unit[SM_UNIT_LDST];
    if (first)
        *first_pc = pc[__builtin_ctz(others ? others : first)];
    return earliest;
}

uint32_t sm_lanes_ready(const struct sm *sm, uint32_t s, uint32_t units, uint32_t mask, uint64_t cycle) {
    const uint32_t *pc;
    uint32_t with_unit = 0, own = update_slot(sm, s, cycle, &pc);
    if (!sm_ldst_has_room(&sm->ldst))
        units &= ~(1u << SM_UNIT_LDST);
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        with_unit |= units >> unit & 1 ? sm->lanes.slot[s].of_unit[unit] : 0;
    return sm->lanes.slot[s].ready & with_unit & own & mask;
}
