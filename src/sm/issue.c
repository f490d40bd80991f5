/* One cycle of an SM: wake, load/store, pick, issue. Readiness is worked out
 * once, when a group's next instruction becomes known: the latest of its fetch
 * and of the registers it needs. A group sleeps on the wheel until then, or off
 * it while a load has no answer.
 *
 * The three pipelines differ only in that rule. barrel: a group may be fetched
 * again when its instruction has left the pipeline and all its accesses have
 * ended (Narasiman). scoreboard: when fetch, registers and unit allow.
 * switch-on-access: every result is there in the next cycle, except memory's,
 * for which the group waits (Meng). */
#include <string.h>

#include "sm/internal.h"

void sm_set_state(struct sm *sm, uint32_t s, enum sm_state state) {
    struct sm_slot *slot = &sm->slot[s];
    sm->n_in_state[slot->state]--;
    sm->n_in_state[state]++;
    slot->state = state;
    if (state == SM_SLOT_READY)
        sched_add(&sm->ready, s);
    else
        sched_remove(&sm->ready, s);
}

static void tell_stall(struct sm *sm, uint32_t s, uint64_t cycle, bool is_long, bool is_pending) {
    sched_put(&sm->waits_long, s, is_long);
    sched_put(&sm->pending, s, is_pending);
    sm->slot[s].is_stalled = true;
    sm->view.cycle = cycle;
    sm->policy->stall(sm->policy_state[s % sm->n_schedulers], &sm->view, s, is_long);
}

static void tell_wake(struct sm *sm, uint32_t s, uint64_t cycle) {
    if (!sm->slot[s].is_stalled)
        return;
    sched_remove(&sm->waits_long, s);
    sched_remove(&sm->pending, s);
    sm->slot[s].is_stalled = false;
    sm->view.cycle = cycle;
    sm->policy->wake(sm->policy_state[s % sm->n_schedulers], &sm->view, s);
}

static void sleep_until(struct sm *sm, uint32_t s, uint64_t cycle, uint64_t wake) {
    uint64_t at = wake - cycle < SM_WHEEL ? wake : cycle + SM_WHEEL - 1;
    sm->slot[s].wake = wake;
    sched_add(&sm->wheel[at % SM_WHEEL], s);
    sm->wheel_used[at % SM_WHEEL / 64] |= 1ull << at % 64;
}

/* The instruction is known: from when may it issue? */
static void wait_for_operands(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    const struct sm_timing *timing = &sm->program->timing[slot->pc];
    uint64_t operands = 0;
    if (sm->machine->pipeline == CONFIG_PIPELINE_SCOREBOARD)
        for (unsigned i = 0; i < timing->n_registers; i++) {
            uint64_t ready = slot->register_ready[timing->reg[i]];
            operands = ready > operands ? ready : operands;
        }
    bool waits_for_all = sm->machine->pipeline != CONFIG_PIPELINE_SCOREBOARD || timing->is_fence || timing->is_barrier;
    if (operands == SM_NEVER || (waits_for_all && slot->n_accesses)) {
        sm_set_state(sm, s, SM_SLOT_MEMORY);
        tell_stall(sm, s, cycle, true, timing->is_fence);
        return;
    }
    uint64_t wake = operands > slot->fetch_ready ? operands : slot->fetch_ready;
    if (wake <= cycle)
        wake = cycle + 1;
    if (wake > cycle + 1)
        tell_stall(sm, s, cycle, false, false);
    sm_set_state(sm, s, operands > slot->fetch_ready ? SM_SLOT_DEPENDENCY : SM_SLOT_FETCH);
    sleep_until(sm, s, cycle, wake);
}

/* True when the instruction is at hand or on its way at a known time. */
static bool fetch(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    uint32_t line = slot->pc >> sm->line_shift;
    if (line == slot->fetch_line || !sm->has_icache)
        return true;
    uint32_t line_bytes = sm->machine->icache.line_bytes;
    uint64_t ready, address = sm->grid->program->code_address + (uint64_t)line * line_bytes;
    enum mem_answer answer =
        mem_access(sm->mem, sm->index, cycle, MEM_FETCH, address, line_bytes, SM_FETCH_TOKEN | s, &ready);
    slot->is_refused = answer == MEM_REFUSED;
    if (slot->is_refused) { /* ask again in the next cycle */
        sm_set_state(sm, s, SM_SLOT_FETCH);
        sleep_until(sm, s, cycle, cycle + 1);
        return false;
    }
    slot->fetch_line = line;
    if (answer == MEM_MISS) {
        slot->fetch_ready = SM_NEVER;
        sm_set_state(sm, s, SM_SLOT_FETCH);
        return false;
    }
    if (ready > slot->fetch_ready)
        slot->fetch_ready = ready;
    return true;
}

static void classify(struct sm *sm, uint32_t s) {
    struct sm_slot *slot = &sm->slot[s];
    struct sched_slot *view = &sm->view_slot[s];
    const struct sm_timing *timing = &sm->program->timing[slot->pc];
    if (slot->unit != timing->unit) {
        sched_remove(&sm->of_unit[slot->unit], s);
        sched_add(&sm->of_unit[timing->unit], s);
        slot->unit = timing->unit;
    }
    bool is_far = timing->access == SM_ACCESS_GLOBAL || timing->access == SM_ACCESS_LOCAL;
    view->pc = slot->pc;
    sched_put(&sm->next_long, s, is_far);
    sched_put(&sm->next_load, s, is_far && timing->is_load);
    view->active_lanes = slot->mask == ~0u ? EXEC_LANES : (uint32_t)__builtin_popcount(slot->mask);
}

void sm_prepare(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    if (!slot->stack->depth) {
        sm_finish_slot(sm, s);
        return;
    }
    if (divergence_stack_top(slot->stack)->is_waiting && !divergence_stack_yield(slot->stack)) {
        sm_set_state(sm, s, SM_SLOT_BARRIER);
        tell_stall(sm, s, cycle, false, true);
        return;
    }
    const struct divergence_entry *top = divergence_stack_top(slot->stack);
    slot->pc = top->pc;
    slot->mask = top->mask;
    classify(sm, s);
    if (fetch(sm, s, cycle))
        wait_for_operands(sm, s, cycle);
}

/* --- issue --- */

static void count(struct sm *sm, uint32_t mask) {
    uint32_t lanes = mask == ~0u ? EXEC_LANES : (uint32_t)__builtin_popcount(mask);
    sm->counters.warp_instructions++;
    sm->counters.thread_instructions += lanes;
    sm->counters.active_lanes[lanes]++;
}

static void set_fault(struct sm *sm, struct sm_slot *slot, uint32_t pc) {
    sm->fault_row = slot->row;
    sm->fault_pc = pc;
}

static void step(struct divergence_stack *stack) {
    struct divergence_entry *top = divergence_stack_top(stack);
    if (++top->pc == top->reconvergence)
        divergence_stack_pop_finished(stack);
}

static void set_free(struct sm *sm, struct sm_resident *resident, uint64_t rows, uint32_t self, uint64_t cycle) {
    for (; rows; rows &= rows - 1) {
        uint32_t s = resident->slot_of[__builtin_ctzll(rows)];
        if (s == self || sm->slot[s].state != SM_SLOT_BARRIER)
            continue;
        sm_prepare(sm, s, cycle);
    }
}

/* Lanes that spin on what other lanes of their warp will write: those go on without them (divergence/stack.h), as since
 * compute capability 7.0. */
static void watch_for_spinning(struct sm_slot *slot, uint32_t pc) {
    if (slot->stack->depth < 2 || slot->n_diverged == 0) {
        slot->n_diverged = slot->stack->depth > 1;
        slot->lowest_pc = slot->highest_pc = pc;
        return;
    }
    slot->lowest_pc = pc < slot->lowest_pc ? pc : slot->lowest_pc;
    slot->highest_pc = pc > slot->highest_pc ? pc : slot->highest_pc;
    if (slot->highest_pc - slot->lowest_pc > SM_SPIN_LOOP)
        slot->n_diverged = 0;
    else if (++slot->n_diverged > SM_SPIN_AFTER && !divergence_stack_top(slot->stack)->is_waiting) {
        divergence_stack_break_join(slot->stack);
        slot->n_diverged = 0;
    }
}

static void control(struct sm *sm, uint32_t s, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    struct sm_resident *resident = &sm->resident[slot->cta];
    struct exec_cta *cta = resident->cta;
    struct divergence_outcome outcome = divergence_control(slot->stack, &sm->cx, slot->row, pc, mask);
    sm->counters.branches += outcome.is_branch;
    sm->counters.divergent_branches += outcome.is_divergent;
    watch_for_spinning(slot, pc);
    if (outcome.at_barrier) {
        sm->counters.barriers++;
        set_free(sm, resident, divergence_arrive(resident->stack, &sm->cx, cta, slot->row->index, pc, mask), s, cycle);
    }
    if (outcome.exited)
        set_free(sm, resident, divergence_after_exit(resident->stack, &sm->cx, cta), s, cycle);
}

/* When the group may be fetched again, memory apart. */
static uint64_t next_fetch(const struct sm *sm, const struct sm_timing *timing, uint64_t cycle) {
    switch (sm->machine->pipeline) {
    case CONFIG_PIPELINE_BARREL:
        return cycle + sm->machine->pipeline_stages;
    case CONFIG_PIPELINE_SWITCH_ON_ACCESS:
        return cycle + 1;
    default:
        return cycle + (timing->is_control ? sm->machine->branch_cycles : sm->machine->fetch_cycles);
    }
}

static void issue(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    uint32_t pc = slot->pc, mask = slot->mask;
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    const struct sm_timing *timing = &sm->program->timing[pc];
    if (insn->guard.offset) {
        uint32_t predicate = *(const uint32_t *)(slot->row->base[EXEC_BASE_REGISTERS] + insn->guard.offset);
        mask &= insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate;
    }
    count(sm, mask);
    sm->cx.time = cycle;
    slot->fetch_ready = next_fetch(sm, timing, cycle);
    sm->unit_free[timing->unit][timing->unit == SM_UNIT_ALU ? scheduler : 0] = cycle + timing->occupancy_cycles;
    for (unsigned i = 0; i < timing->n_destinations; i++)
        slot->register_ready[timing->reg[i]] = cycle + timing->latency_cycles;
    if (insn->kind > EXEC_KIND_WARP) {
        control(sm, s, pc, mask, cycle);
    } else {
        if (mask) {
            exec_row_insn(&sm->cx, slot->row, insn, mask);
            if (timing->access != SM_ACCESS_NONE && sm->cx.fault.kind == EXEC_FAULT_NONE)
                sm_ldst_issue(sm, s, pc, mask, cycle);
        }
        step(slot->stack);
    }
    if (sm->cx.fault.kind != EXEC_FAULT_NONE) {
        set_fault(sm, slot, pc);
        return;
    }
    sm->view.cycle = cycle;
    sm->policy->issued(sm->policy_state[scheduler], &sm->view, s);
    sm_prepare(sm, s, cycle);
}

/* --- the cycle --- */

static void wake_slots(struct sm *sm, uint64_t cycle) {
    uint32_t at = (uint32_t)(cycle % SM_WHEEL);
    if (!(sm->wheel_used[at / 64] >> at % 64 & 1))
        return;
    sm->wheel_used[at / 64] &= ~(1ull << at % 64);
    struct sched_set woken = sm->wheel[at];
    memset(&sm->wheel[at], 0, sizeof woken);
    for (uint32_t word = 0; word < sm->n_words; word++)
        for (uint64_t left = woken.word[word]; left; left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct sm_slot *slot = &sm->slot[s];
            if (slot->state != SM_SLOT_DEPENDENCY && slot->state != SM_SLOT_FETCH)
                continue;
            if (slot->wake > cycle) { /* further ahead than the wheel reaches */
                sleep_until(sm, s, cycle, slot->wake);
                continue;
            }
            if (slot->is_refused) {
                sm_prepare(sm, s, cycle);
                continue;
            }
            sm_set_state(sm, s, SM_SLOT_READY);
            tell_wake(sm, s, cycle);
        }
}

/* Ready slots whose unit takes an instruction in this cycle. */
static struct sched_set candidates_of(const struct sm *sm, uint32_t scheduler, uint64_t cycle) {
    struct sched_set set = {{0}};
    bool ldst_is_full = !sm_ldst_has_room(sm);
    for (uint32_t word = 0; word < sm->n_words; word++) {
        uint64_t left = sm->ready.word[word] & sm->of_scheduler[scheduler].word[word];
        for (int unit = 0; left && unit < SM_N_UNITS; unit++) {
            bool is_taken = sm->unit_free[unit][unit == SM_UNIT_ALU ? scheduler : 0] > cycle ||
                            (unit == SM_UNIT_LDST && ldst_is_full);
            if (is_taken)
                left &= ~sm->of_unit[unit].word[word];
        }
        set.word[word] = left;
    }
    return set;
}

static bool schedule(struct sm *sm, uint32_t scheduler, uint64_t cycle) {
    struct sched_set candidates = candidates_of(sm, scheduler, cycle);
    if (sched_is_empty(&candidates))
        return false;
    sm->view.cycle = cycle;
    int picked = sm->policy->pick(sm->policy_state[scheduler], &sm->view, &candidates);
    if (picked == SCHED_NONE)
        return false;
    issue(sm, scheduler, (uint32_t)picked, cycle);
    return true;
}

/* Ready groups that cannot issue wait for a unit; or, when all of them are stopped by a full load/store queue, for the
 * memory behind it. */
static enum sm_stall why_not_issued(const struct sm *sm) {
    if (sm_ldst_has_room(sm))
        return SM_STALL_STRUCTURAL;
    for (uint32_t word = 0; word < sm->n_words; word++)
        if (sm->ready.word[word] & ~sm->of_unit[SM_UNIT_LDST].word[word])
            return SM_STALL_STRUCTURAL;
    return SM_STALL_MEMORY;
}

static enum sm_stall why_idle(const struct sm *sm) {
    static const enum sm_stall by_state[] = {SM_STALL_MEMORY, SM_STALL_DEPENDENCY, SM_STALL_FETCH, SM_STALL_BARRIER};
    if (sm->n_in_state[SM_SLOT_READY])
        return why_not_issued(sm);
    for (int state = SM_SLOT_MEMORY; state < SM_N_STATES; state++)
        if (sm->n_in_state[state])
            return by_state[state - SM_SLOT_MEMORY];
    return SM_STALL_EMPTY;
}

static uint64_t next_on_wheel(const struct sm *sm, uint64_t cycle) {
    for (uint32_t ahead = 1; ahead < SM_WHEEL;) {
        uint32_t at = (uint32_t)((cycle + ahead) % SM_WHEEL);
        uint64_t left = sm->wheel_used[at / 64] >> at % 64;
        if (left)
            return cycle + ahead + (uint64_t)__builtin_ctzll(left);
        ahead += 64 - at % 64;
    }
    return SM_NEVER;
}

static uint64_t next_cycle(const struct sm *sm, uint64_t cycle) {
    if (sm->queue_length || sm->n_in_state[SM_SLOT_READY])
        return cycle + 1;
    return next_on_wheel(sm, cycle);
}

uint64_t sm_tick(struct sm *sm, uint64_t cycle) {
    if (cycle > sm->last_cycle + 1)
        sm_catch_up(sm, cycle - 1);
    wake_slots(sm, cycle);
    sm_ldst_tick(sm, cycle);
    bool has_issued = false;
    for (uint32_t k = 0; k < sm->n_schedulers && sm->cx.fault.kind == EXEC_FAULT_NONE; k++)
        has_issued |= schedule(sm, k, cycle);
    if (cycle > sm->last_cycle) {
        sm->counters.cycles++;
        if (has_issued)
            sm->counters.active_cycles++;
        else
            sm->counters.stall[why_idle(sm)]++;
        sm->last_cycle = cycle;
    }
    sm->sleeps_for = why_idle(sm);
    return next_cycle(sm, cycle);
}
