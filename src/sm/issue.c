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
#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "sm/internal.h"

void sm_set_state(struct sm *sm, uint32_t s, enum sm_state state) {
    struct sm_slot *slot = &sm->slot[s];
    sm->n_in_state[slot->state]--;
    sm->n_in_state[state]++;
    slot->state = (uint8_t)state;
    if (state == SM_SLOT_READY)
        sched_add(&sm->ready, s);
    else
        sched_remove(&sm->ready, s);
}

/* Calls of the model that may place, wake or end groups leave a fault behind like instructions do. */
static bool has_fault(const struct sm *sm) { return sm->cx.fault.kind != EXEC_FAULT_NONE; }

static void tell_stall(struct sm *sm, uint32_t s, uint64_t cycle, bool is_long, bool is_pending) {
    sched_put(&sm->waits_long, s, is_long);
    sched_put(&sm->pending, s, is_pending);
    sm->slot[s].is_stalled = true;
    if (!sm->policy_hears_waits)
        return;
    sm->view.cycle = cycle;
    sm->policy->stall(sm->policy_state[s % sm->n_schedulers], &sm->view, s, is_long);
}

static void tell_wake(struct sm *sm, uint32_t s, uint64_t cycle) {
    if (!sm->slot[s].is_stalled)
        return;
    sched_remove(&sm->waits_long, s);
    sched_remove(&sm->pending, s);
    sm->slot[s].is_stalled = false;
    if (!sm->policy_hears_waits)
        return;
    sm->view.cycle = cycle;
    sm->policy->wake(sm->policy_state[s % sm->n_schedulers], &sm->view, s);
}

static void sleep_until(struct sm *sm, uint32_t s, uint64_t cycle, uint64_t wake) {
    uint64_t at = wake - cycle < SM_WHEEL ? wake : cycle + SM_WHEEL - 1;
    assert(wake > sm->last_cycle); /* or it would sleep until the wheel has turned */
    sm->slot[s].wake = wake;
    sched_add(&sm->wheel[at % SM_WHEEL], s);
    sm->wheel_used[at % SM_WHEEL / 64] |= 1ull << at % 64;
}

static uint32_t lanes_in(uint32_t mask) { return mask == ~0u ? EXEC_LANES : base_count_bits(mask); }

/* What the schedulers and units see of the slot: its next instruction. */
static void classify(struct sm *sm, uint32_t s, uint32_t pc) {
    struct sm_slot *slot = &sm->slot[s];
    const struct divergence_group *group = slot->group;
    struct sched_slot *view = &sm->view_slot[s];
    const struct sm_timing *timing = &sm->program->timing[pc];
    view->pc = pc;
    if (slot->traits != timing->traits) {
        slot->traits = timing->traits;
        sched_remove(&sm->of_unit[slot->unit], s);
        sched_add(&sm->of_unit[timing->unit], s);
        slot->unit = timing->unit;
        sched_put(&sm->next_long, s, timing->is_far);
        sched_put(&sm->next_load, s, timing->is_far && timing->is_load);
        sched_put(&sm->next_shared, s, timing->is_shared);
    }
    view->active_lanes = group->row ? lanes_in(group->mask) : group->n_threads;
    view->passed = group->passed;
}

/* The instruction is known: from when may it issue? */
static void wait_for_operands(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    const struct divergence_group *group = slot->group;
    const struct sm_timing *timing = &sm->program->timing[group->pc];
    uint64_t operands = group->ready_cycle;
    if (sm->lane_ready) {
        uint32_t pc = group->pc;
        uint64_t earliest = sm_lanes_earliest(sm, s, cycle + 1, &pc);
        operands = earliest > operands ? earliest : operands;
        classify(sm, s, pc);
    } else if (sm->is_scoreboard)
        for (unsigned i = 0; i < timing->n_registers; i++) {
            uint64_t ready = slot->register_ready[timing->reg[i]];
            operands = ready > operands ? ready : operands;
        }
    bool waits_for_all = slot->n_accesses && (timing->is_fence || timing->is_barrier ||
                                              (!sm->is_scoreboard && (!group->overlaps || timing->is_control)));
    if (operands == SM_NEVER || group->is_blocked || waits_for_all) {
        sm_set_state(sm, s, SM_SLOT_MEMORY);
        tell_stall(sm, s, cycle, true, timing->is_fence);
        return;
    }
    uint64_t fetched = slot->is_continued ? 0 : slot->fetch_ready; /* the first bundle fetched for all */
    uint64_t wake = operands > fetched ? operands : fetched;
    if (wake <= cycle)
        wake = cycle + 1;
    if (wake > cycle + 1)
        tell_stall(sm, s, cycle, false, false);
    sm_set_state(sm, s, operands > fetched ? SM_SLOT_DEPENDENCY : SM_SLOT_FETCH);
    sleep_until(sm, s, cycle, wake);
}

/* True when the instruction is at hand or on its way at a known time. */
static bool fetch(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    uint32_t line = slot->group->pc >> sm->line_shift;
    if (line == slot->fetch_line || !sm->has_icache)
        return true;
    uint32_t line_bytes = sm->machine->icache.line_bytes;
    uint64_t ready, address = sm->grid->program->code_address + (uint64_t)line * line_bytes;
    uint64_t now =
        cycle < sm->tick_cycle ? sm->tick_cycle : cycle; /* before the schedulers pick, it is the one before */
    enum mem_answer answer = MEM_REFUSED;
    if (sm->fetch_cycle != now)
        answer = mem_access(sm->mem, sm->index, now, MEM_FETCH, address, line_bytes, SM_FETCH_TOKEN | s, &ready);
    if (answer == MEM_REFUSED) {
        slot->wake = SM_NEVER;
        sm_set_state(sm, s, SM_SLOT_FETCH);
        sched_add(&sm->refused, s);
        return false;
    }
    if (sm->machine->icache.banks <= 1)
        sm->fetch_cycle = now;
    slot->fetch_line = line;
    if (answer == MEM_MISS) {
        sm->n_fetches++;
        slot->fetch_ready = slot->wake = SM_NEVER;
        sm_set_state(sm, s, SM_SLOT_FETCH);
        return false;
    }
    if (ready > slot->fetch_ready)
        slot->fetch_ready = ready;
    return true;
}

static void wait_for_others(struct sm *sm, uint32_t s, uint64_t cycle) {
    sm_set_state(sm, s, SM_SLOT_BARRIER);
    tell_stall(sm, s, cycle, false, true);
}

/* To be re-formed: sleeps until its last result is there; wake_slots() then calls resume(). */
static void drain(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    bool waits_for_all = !sm->is_scoreboard;
    if (waits_for_all ? slot->n_accesses : slot->n_loads) {
        sm_set_state(sm, s, SM_SLOT_MEMORY);
        tell_stall(sm, s, cycle, true, false);
        return;
    }
    uint64_t wake = waits_for_all || slot->fetch_ready > slot->result_ready ? slot->fetch_ready : slot->result_ready;
    if (wake <= cycle)
        wake = cycle + 1;
    if (wake > cycle + 1)
        tell_stall(sm, s, cycle, false, false);
    slot->is_draining = true;
    sched_add(&sm->next_shared, s); /* what it will do is not known */
    slot->traits = SM_NO_TRAITS;
    sm_set_state(sm, s, SM_SLOT_DEPENDENCY);
    sleep_until(sm, s, cycle, wake);
}

void sm_prepare(struct sm *sm, uint32_t s, uint64_t cycle) {
    sm->slot[s].is_draining = false;
    sched_remove(&sm->refused, s);
    switch (sm->slot[s].group->status) {
    case DIVERGENCE_ENDED:
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
    classify(sm, s, sm->slot[s].group->pc);
    if (fetch(sm, s, cycle))
        wait_for_operands(sm, s, cycle);
}

/* --- issue --- */

static void count(struct sm *sm, uint32_t lanes) {
    sm->counters.warp_instructions++;
    sm->counters.thread_instructions += lanes;
    sm->counters.active_lanes[lanes]++;
}

static void set_fault(struct sm *sm, const struct divergence_bundle *bundle) {
    sm->fault_pc = bundle->pc;
    sm->fault_row = bundle->row;
    if (!bundle->row) {
        uint32_t lane = sm->cx.fault.lane;
        sm->fault_row = sm->cx.row_of[lane];
        sm->cx.fault.lane = sm->cx.lane_of[lane];
    }
}

/* Units and results of a bundle. */
static inline void reserve(struct sm *sm, uint32_t scheduler, struct sm_slot *slot, const struct sm_timing *timing,
                           uint32_t mask, uint64_t cycle) {
    uint64_t fetched = cycle + (timing->is_control ? sm->cycles_to_next_after_control : sm->cycles_to_next);
    if (!slot->is_continued || timing->is_control || !slot->group->overlaps)
        slot->fetch_ready = fetched;
    sm->unit_free[timing->unit][timing->unit == SM_UNIT_ALU ? scheduler : 0] =
        cycle + sm_occupancy_cycles(sm, timing, mask);
    uint64_t result = cycle + timing->latency_cycles;
    if (result > slot->result_ready)
        slot->result_ready = result;
    if (sm->lane_ready) {
        slot->fetch_ready = cycle + 1;
        sm_lanes_set_fetch(sm, (uint32_t)slot->group->slot, mask, fetched);
        sm_lanes_set_results(sm, (uint32_t)slot->group->slot, timing, mask, result);
        return;
    }
    for (unsigned i = 0; i < timing->n_destinations; i++)
        slot->register_ready[timing->reg[i]] = result;
}

/* Of several rows: the least. */
static void show_progress(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle) {
    struct sched_slot *view = &sm->view_slot[s];
    view->progress = bundle->row ? bundle->row->progress : UINT32_MAX;
    for (uint32_t left = bundle->row ? 0 : bundle->mask; left; left &= left - 1) {
        uint32_t progress = sm->cx.row_of[__builtin_ctz(left)]->progress;
        view->progress = progress < view->progress ? progress : view->progress;
    }
}

/* What an instruction with a context leaves behind besides values. */
static void follow_up(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    if (has_fault(sm))
        set_fault(sm, bundle);
    else if (sm->program->timing[bundle->pc].access != SM_ACCESS_NONE)
        sm_ldst_issue(sm, s, bundle, cycle);
    sm->cx.has_changed = false;
    if (sm->program->exec->code[bundle->pc].opcode == PTX_OP_PROGRESS)
        show_progress(sm, s, bundle);
}

static void call_control(struct sm *sm, struct divergence_group *group, const struct divergence_bundle *bundle,
                         uint64_t cycle) {
    enum exec_kind kind = (enum exec_kind)sm->program->exec->code[bundle->pc].kind;
    if (kind == EXEC_KIND_EXIT || kind == EXEC_KIND_BARRIER || kind == EXEC_KIND_CALL_BUILTIN)
        sm->last_change = cycle;
    sm->divergence->control(sm->model, group, bundle->pc, bundle->mask, cycle);
    if (has_fault(sm))
        set_fault(sm, bundle);
}

static void execute_bundle(struct sm *sm, uint32_t scheduler, uint32_t s, const struct divergence_bundle *bundle,
                           uint64_t cycle) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    if (sm->is_watched)
        sm_watch_bundle(sm, bundle);
    sm->lanes_at[bundle->pc] += lanes_in(bundle->mask);
    reserve(sm, scheduler, &sm->slot[s], &sm->program->timing[bundle->pc], bundle->ready, cycle);
    if (!bundle->mask || insn->kind >= sm->first_model_kind)
        return;
    if (bundle->row)
        exec_row_insn(&sm->cx, bundle->row, insn, bundle->mask);
    else
        exec_scattered_insn(&sm->cx, insn, bundle->mask);
    if (insn->kind != EXEC_KIND_LANES)
        follow_up(sm, s, bundle, cycle);
}

/* The last bundle of an instruction has been executed. */
static void complete(struct sm *sm, struct divergence_group *group, const struct divergence_bundle *bundle,
                     bool is_mixed, uint64_t cycle) {
    group->passed += sm->program->timing[bundle->pc].is_meeting;
    if (sm->program->exec->code[bundle->pc].kind >= sm->first_model_kind)
        call_control(sm, group, bundle, cycle);
    else if (!is_mixed && ++group->pc == group->meet)
        sm->divergence->meet(sm->model, group, cycle);
}

/* A group that is no row: its model says who executes. Gives the lanes that did, and whether the instruction has no
 * bundles left. */
static uint32_t issue_bundles(struct sm *sm, uint32_t scheduler, uint32_t s, uint32_t ready, bool *is_last,
                              uint64_t cycle) {
    struct divergence_group *group = sm->slot[s].group;
    struct divergence_bundle bundle;
    uint32_t lanes = 0;
    bool is_mixed = false;
    do {
        bundle = (struct divergence_bundle){.pc = group->pc, .ready = ready};
        sm->divergence->bundle(sm->model, group, &bundle, cycle);
        lanes += lanes_in(bundle.mask);
        is_mixed |= bundle.shares_issue;
        execute_bundle(sm, scheduler, s, &bundle, cycle);
        if (!has_fault(sm) && bundle.is_last)
            complete(sm, group, &bundle, is_mixed, cycle);
    } while (bundle.shares_issue && !has_fault(sm));
    if (is_mixed && !has_fault(sm))
        sm->divergence->meet(sm->model, group, cycle);
    *is_last = bundle.is_last;
    return lanes;
}

/* The common case: the lanes of a row. The same as a bundle of it, without going through one. */
static inline uint32_t issue_row(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    struct divergence_group *group = slot->group;
    uint32_t pc = group->pc, mask = group->mask;
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    const struct sm_timing *timing = &sm->program->timing[pc];
    if (insn->guard.offset) {
        uint32_t predicate = *(const uint32_t *)(group->row->base[EXEC_BASE_REGISTERS] + insn->guard.offset);
        mask &= insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate;
    }
    uint32_t lanes = lanes_in(mask);
    sm->lanes_at[pc] += lanes;
    reserve(sm, scheduler, slot, timing, mask, cycle);
    group->passed += timing->is_meeting;
    if (insn->kind == EXEC_KIND_LANES && !sm->is_watched) {
        if (mask)
            exec_row_insn(&sm->cx, group->row, insn, mask);
    } else {
        struct divergence_bundle bundle = {.pc = pc, .mask = mask, .row = group->row};
        if (sm->is_watched)
            sm_watch_bundle(sm, &bundle);
        if (insn->kind >= sm->first_model_kind) {
            call_control(sm, group, &bundle, cycle);
            return lanes;
        }
        if (mask) {
            exec_row_insn(&sm->cx, group->row, insn, mask);
            follow_up(sm, s, &bundle, cycle);
        }
    }
    if (++group->pc == group->meet)
        sm->divergence->meet(sm->model, group, cycle);
    return lanes;
}

/* Groups that issue together with the one that was picked, as parts of its instruction; the policy does not hear of
 * them. What a part does may change or end the groups behind it. */
static uint32_t issue_followers(struct sm *sm, uint32_t scheduler, uint32_t pc, uint64_t cycle) {
    uint32_t lanes = 0;
    for (uint32_t word = 0; word < sm->n_words; word++)
        for (uint64_t left = sm->ready.word[word] & sm->of_scheduler[scheduler].word[word]; left; left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct sm_slot *slot = &sm->slot[s];
            if (slot->state != SM_SLOT_READY || slot->group->pc != pc || !slot->group->row ||
                !sm->divergence->follows(sm->model, slot->group))
                continue;
            lanes += issue_row(sm, scheduler, s, cycle);
            if (has_fault(sm))
                return lanes;
            sm_prepare(sm, s, cycle);
        }
    return lanes;
}

/* Gives the lanes that executed. */
static inline uint32_t issue_picked(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    bool is_first = !slot->is_continued, is_last = true;
    uint32_t lanes =
        slot->group->row ? issue_row(sm, scheduler, s, cycle) : issue_bundles(sm, scheduler, s, ~0u, &is_last, cycle);
    if (has_fault(sm))
        return lanes;
    if (is_first) {
        sm->view.cycle = cycle;
        sm->policy->issued(sm->policy_state[scheduler], &sm->view, s);
    }
    slot->is_continued = !is_last;
    bool goes_on = !is_last && !slot->group->is_blocked && slot->group->ready_cycle <= cycle + 1;
    sm->continued[scheduler] = goes_on ? (int)s : SM_NO_SLOT;
    if (!goes_on) /* else it stays ready, and its scheduler picks nobody else */
        sm_prepare(sm, s, cycle);
    return lanes;
}

static uint32_t units_free(const struct sm *sm, uint32_t scheduler, uint64_t cycle) {
    uint32_t units = 0;
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        units |= (uint32_t)(sm->unit_free[unit][unit == SM_UNIT_ALU ? scheduler : 0] <= cycle) << unit;
    return units;
}

/* With a scoreboard for each lane: those of the picked group that can go, and in the lanes that are left those of the
 * other ready groups. The policy hears of the picked one. */
static void issue_lanes(struct sm *sm, uint32_t scheduler, uint32_t picked, uint64_t cycle) {
    uint32_t units = units_free(sm, scheduler, cycle), left = ~0u, lanes = 0;
    struct sched_set groups = sched_and(&sm->ready, &sm->of_scheduler[scheduler]);
    for (int s = (int)picked; s != SCHED_NONE && left; s = sched_first(&groups)) {
        bool is_last;
        uint32_t ready = 0;
        sched_remove(&groups, (uint32_t)s);
        if (sm->slot[s].state == SM_SLOT_READY) /* what others do may change that */
            ready = sm_lanes_ready(sm, (uint32_t)s, units, left, cycle);
        if (!ready)
            continue;
        lanes += issue_bundles(sm, scheduler, (uint32_t)s, ready, &is_last, cycle);
        left &= ~ready;
        if (has_fault(sm))
            return;
        if ((uint32_t)s == picked) {
            sm->view.cycle = cycle;
            sm->policy->issued(sm->policy_state[scheduler], &sm->view, picked);
        }
        sm_prepare(sm, (uint32_t)s, cycle);
    }
    count(sm, lanes);
}

static void issue(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    const struct divergence_group *group = sm->slot[s].group;
    uint32_t pc = group->pc;
    bool leads = sm->divergence->leads && group->row && sm->divergence->leads(sm->model, group);
    sm->cx.time = cycle;
    if (sm->lane_ready) {
        issue_lanes(sm, scheduler, s, cycle);
        return;
    }
    uint32_t lanes = issue_picked(sm, scheduler, s, cycle);
    if (leads && !has_fault(sm))
        lanes += issue_followers(sm, scheduler, pc, cycle);
    count(sm, lanes);
}

/* --- the cycle --- */

/* A group that had to sleep until now. */
static void wake_slot(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    if ((slot->state != SM_SLOT_DEPENDENCY && slot->state != SM_SLOT_FETCH) || slot->wake == SM_NEVER)
        return;               /* waits for something else by now */
    if (slot->wake > cycle) { /* further ahead than the wheel reaches, or put off since */
        sleep_until(sm, s, cycle, slot->wake);
        return;
    }
    if (slot->is_draining) {
        tell_wake(sm, s, cycle);
        slot->is_draining = false;
        sm->divergence->resume(sm->model, slot->group, cycle);
        sm_prepare(sm, s, cycle - 1);
        return;
    }
    __builtin_prefetch(slot->group);
    sm_set_state(sm, s, SM_SLOT_READY);
    tell_wake(sm, s, cycle);
}

/* What is woken may place or wake groups that go in this very cycle: until nobody is left. */
static void wake_slots(struct sm *sm, uint64_t cycle) {
    uint32_t at = (uint32_t)(cycle % SM_WHEEL);
    struct sched_set refused = sm->refused; /* ask again, in their turn among the others, until the port is taken */
    while (sm->wheel_used[at / 64] >> at % 64 & 1 || !sched_is_empty(&refused)) {
        sm->wheel_used[at / 64] &= ~(1ull << at % 64);
        struct sched_set woken = sm->wheel[at];
        memset(&sm->wheel[at], 0, sizeof woken);
        for (uint32_t word = 0; word < sm->n_words; word++)
            for (uint64_t left = woken.word[word] | refused.word[word]; left; left &= left - 1) {
                uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
                if (!sched_has(&sm->refused, s))
                    wake_slot(sm, s, cycle);
                else if (sched_has(&refused, s) && sm->fetch_cycle != cycle)
                    sm_prepare(sm, s, cycle - 1);
            }
        memset(&refused, 0, sizeof refused);
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
    int continued = sm->continued[scheduler];
    if (continued != SM_NO_SLOT) {
        bool is_candidate = sched_has(&candidates, (uint32_t)continued);
        if (is_candidate)
            issue(sm, scheduler, (uint32_t)continued, cycle);
        return is_candidate;
    }
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

/* When a ready group may find its unit free; SM_NEVER: all of them wait for room in the load/store queue. */
static uint64_t next_issue(const struct sm *sm, uint64_t cycle) {
    bool ldst_is_full = !sm_ldst_has_room(sm);
    uint64_t next = SM_NEVER;
    for (uint32_t k = 0; k < sm->n_schedulers; k++)
        for (int unit = 0; unit < SM_N_UNITS; unit++) {
            uint64_t any = 0;
            for (uint32_t word = 0; word < sm->n_words; word++)
                any |= sm->ready.word[word] & sm->of_scheduler[k].word[word] & sm->of_unit[unit].word[word];
            if (!any || (unit == SM_UNIT_LDST && ldst_is_full))
                continue;
            uint64_t free = sm->unit_free[unit][unit == SM_UNIT_ALU ? k : 0];
            next = free < next ? free : next;
        }
    return next > cycle ? next : cycle + 1;
}

static uint64_t next_cycle(const struct sm *sm, uint64_t cycle, bool has_issued) {
    if (has_issued || (sm->queue_length && !sm->ldst_is_refused) || !sched_is_empty(&sm->refused))
        return cycle + 1;
    uint64_t next = next_on_wheel(sm, cycle);
    if (sm->n_in_state[SM_SLOT_READY]) {
        uint64_t issue = sm->policy->is_strict ? cycle + 1 : next_issue(sm, cycle);
        next = issue < next ? issue : next;
    }
    return sm->model_wake < next ? sm->model_wake : next;
}

/* Slots have become free, or the model wanted to be asked now. */
static void refill(struct sm *sm, uint64_t cycle) {
    if (!sm->has_freed_slot && sm->model_wake > cycle)
        return;
    sm->has_freed_slot = false;
    if (sm->model_wake <= cycle)
        sm->model_wake = SM_NEVER;
    if (sm->divergence->refill)
        sm->divergence->refill(sm->model, cycle);
}

/* Everybody waits for memory or for others: the model may have a use for the time. */
static void use_idle_time(struct sm *sm, uint64_t cycle) {
    if (!sm->divergence->idle || sm->n_in_state[SM_SLOT_READY] || sm->n_in_state[SM_SLOT_DEPENDENCY] ||
        sm->n_in_state[SM_SLOT_FETCH] || !sm->n_in_state[SM_SLOT_MEMORY])
        return;
    sm->divergence->idle(sm->model, cycle);
}

bool sm_is_alone(const struct sm *sm, uint64_t cycle) {
    const struct sched_set *woken = &sm->wheel[cycle % SM_WHEEL];
    if (!sm->is_separate || !sm->n_residents || sm->n_fetches || sm->n_free_requests != sm->n_requests ||
        sm->model_wake <= cycle || has_fault(sm))
        return false;
    for (uint32_t word = 0; word < sm->n_words; word++)
        if (sm->next_shared.word[word] & (sm->ready.word[word] | woken->word[word] | sm->refused.word[word]))
            return false;
    return true;
}

uint64_t sm_tick(struct sm *sm, uint64_t cycle) {
    if (cycle > sm->last_cycle + 1)
        sm_catch_up(sm, cycle - 1);
    sm->tick_cycle = cycle;
    if (sm->done != SM_NO_REQUEST)
        sm_ldst_collect(sm, cycle);
    sm->is_waking = true;
    wake_slots(sm, cycle);
    refill(sm, cycle);
    sm->is_waking = false;
    if (sm->queue_length)
        sm_ldst_tick(sm, cycle);
    bool has_issued = false;
    for (uint32_t k = 0; k < sm->n_schedulers && !has_fault(sm); k++)
        has_issued |= schedule(sm, k, cycle);
    refill(sm, cycle);
    if (!has_issued)
        use_idle_time(sm, cycle);
    uint64_t next = next_cycle(sm, cycle, has_issued);
    if (!has_issued || next > cycle + 1)
        sm->sleeps_for = why_idle(sm);
    if (cycle > sm->last_cycle) {
        sm->counters.cycles++;
        if (has_issued)
            sm->counters.active_cycles++;
        else
            sm->counters.stall[sm->sleeps_for]++;
        sm->last_cycle = cycle;
    }
    return next;
}
