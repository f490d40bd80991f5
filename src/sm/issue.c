/* Issues a group that a scheduler has picked: executes its instruction, occupies its unit, and sets the time of its
 * results. A group that names its threads issues through issue_own(). For other groups the model names the threads,
 * bundle by bundle. Models that issue several groups or instructions in one cycle go through joint_issue.c. */
#include <string.h>

#include "divergence/parts/threads.h"
#include "isa/isa.h"
#include "sm/prepare.h"

void sm_count_issue(struct sm *sm, uint32_t lanes) {
    sm->counters.warp_instructions++;
    sm->counters.thread_instructions += lanes;
    sm->active_lanes[lanes]++;
}

static void set_fault(struct sm *sm, const struct divergence_bundle *bundle) {
    sm->fault_pc = bundle->pc;
    uint32_t lane = sm->cx.fault.lane;
    sm->fault_row = bundle->row ? bundle->row : exec_row_at(&sm->cx, lane);
    sm->cx.fault.lane = bundle->row ? lane : exec_lane_at(&sm->cx, lane);
}

/* Occupies the bundle's unit and sets the cycle in which its results are ready. */
static inline __attribute__((always_inline)) void reserve(struct sm *sm, uint32_t scheduler, struct sm_slot *slot,
                                                          const struct sm_timing *timing, uint32_t mask, uint64_t cycle,
                                                          bool is_plain) {
    uint64_t fetched = cycle + (timing->is_control ? sm->cycles_to_next_after_control : sm->cycles_to_next);
    /* The last of overlapping bundles counts only after a conditional branch (Narasiman 2014, 4.2.2). */
    if (!slot->is_continued || (timing->is_control && !timing->is_jump) || !slot->group->overlaps)
        slot->fetch_ready = fetched;
    uint32_t occupancy = is_plain ? timing->occupancy_cycles : sm_occupancy_cycles(sm, timing, mask);
    sm_units_occupy(&sm->units, timing->unit, scheduler, cycle + occupancy);
    uint64_t result = cycle + timing->latency_cycles;
    if (result > slot->result_ready)
        slot->result_ready = result;
    if (!is_plain && sm->lanes.ready) {
        slot->fetch_ready = cycle + 1;
        sm_lanes_set_fetch(sm, (uint32_t)slot->group->slot, mask, fetched);
        sm_lanes_set_results(sm, (uint32_t)slot->group->slot, timing, mask, result);
        return;
    }
    if (!is_plain && sm->boards.board) {
        sm_boards_set_results(sm, (uint32_t)slot->group->slot, timing, mask, result);
        return;
    }
    if (sm->access_cycles > 1 && sm_takes_turns(timing))
        *sm_access_entry(sm, slot) = cycle + sm->access_cycles;
    const uint32_t *reg = sm_registers(sm->program, timing);
    for (unsigned i = 0; i < timing->n_destinations; i++)
        slot->register_ready[reg[i]] = result;
}

/* Counts the instruction's machine instructions, which occupy the scheduler. A branch that became predicates delays its
 * group no longer than arithmetic. */
static inline void issue_machine_instructions(struct sm *sm, uint32_t scheduler, struct sm_slot *slot,
                                              const struct sm_timing *timing, uint64_t cycle) {
    uint32_t parts = slot->parts + timing->parts, n = parts / ISA_PARTS;
    slot->parts = (uint8_t)(parts % ISA_PARTS);
    sm->turn.is_over = n > 0;
    sm->counters.machine_instructions += n;
    sm->counters.machine_thread_instructions += (uint64_t)n * sm_lanes_in(slot->group->mask);
    sm->counters.machine_branches += timing->jumps;
    if (__builtin_expect(slot->group->n_arrived > 0, 0)) {
        if (timing->meets) {
            n += slot->group->n_arrived;
            sm->counters.machine_instructions += slot->group->n_arrived;
        }
        slot->group->n_arrived = 0;
    }
    if (n == 0 || timing->is_predicated)
        slot->fetch_ready = cycle + 1;
    if (timing->is_device_fence) {
        uint64_t end = cycle + sm_fence_cycles(sm, slot);
        slot->fetch_ready = slot->fetch_ready > end ? slot->fetch_ready : end;
        slot->has_accessed = false;
    }
    slot->is_fenced = false;
    if (n > 1) {
        sm->schedulers.busy_until[scheduler] = cycle + n;
        if (slot->fetch_ready < cycle + n)
            slot->fetch_ready = cycle + n;
        if (timing->is_reconvergence)
            slot->fetch_ready += sm->machine->lowering.reconverge_cycles;
    }
    if (timing->is_long_product && n) {
        uint64_t end = cycle + n + sm->machine->sm.long_product_issue_cycles - 1;
        sm->schedulers.busy_until[scheduler] = end;
        slot->fetch_ready = slot->fetch_ready > end ? slot->fetch_ready : end;
    }
}

/* Returns whether the bits are those of zero, of a denormal or infinite number, or of NaN. */
static bool is_special(uint32_t bits) { return (((bits >> 23) + 1) & 0xff) < 2; }

/* A rare operand makes a root, a reciprocal or a division call a function: its length, and the cycles until the warp
 * goes on. */
struct slow_path {
    uint32_t instructions, cycles;
};

/* bench/hardware: op_sqrt_f32, op_sqrt_f64, op_div_f32, op_rcp_f32 and op_div_f64, where one lane has zero (the
 * reciprocal's has zero and infinity in turns). The lengths are those for zero. Reciprocals of double precision were
 * not measured, and take as long as those of single precision. */
static struct slow_path slow_path_of(const struct exec_insn *insn, bool is_double) {
    switch (insn->opcode) {
    case PTX_OP_DIV:
        return is_double ? (struct slow_path){63, 400} : (struct slow_path){34, 271};
    case PTX_OP_RCP:
        return is_double ? (struct slow_path){18, 252} : (struct slow_path){22, 252};
    default:
        return is_double ? (struct slow_path){14, 252} : (struct slow_path){12, 165};
    }
}

/* Returns whether the number calls the function, as code of ptxas 13.0 decides. Divisions of single precision call
 * theirs if an operand is special, and also if their exponents are extreme, which is left out. */
static bool is_slow_float(enum ptx_opcode opcode, uint32_t x, uint32_t y) {
    switch (opcode) {
    case PTX_OP_DIV:
        return is_special(x) || is_special(y);
    case PTX_OP_RCP:
        return ((x + 0x1800000u) & 0x7f800000u) <= 0x1ffffffu;
    default: /* negative, zero, tiny, infinite, NaN */
        return x - 0x0d000000u > 0x727fffffu;
    }
}

/* The same of double precision, where the code looks at the upper halves. */
static bool is_slow_double(enum ptx_opcode opcode, uint64_t x, uint64_t y) {
    enum { LEAST_DIVIDEND = 0x03600000, LEAST = 0x00100000, MOST = 0x7f800000 };
    uint32_t high = (uint32_t)(x >> 32), magnitude = high & 0x7fffffffu;
    if (opcode == PTX_OP_RCP)
        return ((high + 0x300402u) & 0x7fffffffu) < 0x400402u;
    if (opcode == PTX_OP_SQRT)
        return high - 0x03500000u >= 0x7ca00000u;
    double dividend, divisor;
    memcpy(&dividend, &x, sizeof dividend);
    memcpy(&divisor, &y, sizeof divisor);
    double quotient = dividend / divisor;
    uint64_t bits;
    memcpy(&bits, &quotient, sizeof bits);
    uint32_t result = (uint32_t)(bits >> 32) & 0x7fffffffu;
    return magnitude < LEAST_DIVIDEND || ((uint32_t)(y >> 32) & MOST) == MOST || result <= LEAST || result > MOST;
}

/* The branch over the function's call waits for the check of the operands, so that the warp's next instruction comes
 * after the result also if no operand is rare (op_sqrt_f32, op_rcp_f32, op_sqrt_f64 one_warp). */
static __attribute__((noinline)) void take_slow_path(struct sm *sm, uint32_t scheduler, struct sm_slot *slot,
                                                     const struct exec_row *row, const struct exec_insn *insn,
                                                     uint32_t mask, uint64_t cycle) {
    struct exec_operand x = insn->operand[insn->n_dst], y = x;
    bool is_double = x.width == PTX_WIDTH_64;
    struct slow_path path = slow_path_of(insn, is_double);
    uint32_t n_slow = 0;
    if (insn->opcode == PTX_OP_DIV)
        y = insn->operand[insn->n_dst + 1];
    const uint32_t *floats = divergence_lanes(row, x), *divisors = divergence_lanes(row, y);
    const uint64_t *doubles = divergence_lanes(row, x), *long_divisors = divergence_lanes(row, y);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        n_slow += is_double ? is_slow_double(insn->opcode, doubles[lane], long_divisors[lane])
                            : is_slow_float(insn->opcode, floats[lane], divisors[lane]);
    }
    uint64_t result =
        cycle + (n_slow ? path.cycles : sm->program->timing[insn - sm->program->exec->code].latency_cycles);
    slot->fetch_ready = slot->fetch_ready > result ? slot->fetch_ready : result;
    if (!n_slow)
        return;
    sm->counters.machine_instructions += path.instructions;
    sm->counters.machine_thread_instructions += path.instructions * n_slow;
    sm->schedulers.busy_until[scheduler] += path.instructions;
}

/* match.any finds one value after the other (bench/hardware: op_match_any, op_match_any_16). The next one's search
 * starts while the result of this one is on its way, so that several warps take turns. */
static __attribute__((noinline)) void match_values(struct sm *sm, uint32_t scheduler, uint32_t s,
                                                   const struct exec_row *row, const struct exec_insn *insn,
                                                   uint32_t mask, uint64_t cycle) {
    const struct sm_timing *timing = &sm->program->timing[sm->slots.slot[s].group->pc];
    struct exec_operand operand = insn->operand[insn->n_dst];
    const uint32_t *words = divergence_lanes(row, operand);
    const uint64_t *pairs = divergence_lanes(row, operand);
    bool is_wide = operand.width == PTX_WIDTH_64;
    uint32_t n = 0;
    for (uint32_t left = mask; left; n++) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        for (uint32_t others = left; others; others &= others - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(others);
            if (is_wide ? pairs[lane] == pairs[first] : words[lane] == words[first])
                left &= ~(1u << lane);
        }
    }
    uint64_t ready = cycle + timing->latency_cycles + (uint64_t)n * sm->machine->sm.match_cycles;
    sm_units_occupy(&sm->units, timing->unit, scheduler, cycle + 1 + (uint64_t)n * sm->machine->sm.match_busy_cycles);
    sm_set_destinations(sm, s, timing, mask, ready);
    if (sm->slots.slot[s].result_ready < ready)
        sm->slots.slot[s].result_ready = ready;
}

/* A group that leaves some of its threads behind, at a branch or at the end of a path, fetches at another address. */
static inline void part(struct sm *sm, struct sm_slot *slot, uint32_t before) {
    const struct divergence_group *group = slot->group;
    if (group && group->status == DIVERGENCE_RUNS && (before & ~group->mask))
        slot->fetch_ready += sm->machine->lowering.diverge_cycles;
}

/* Calls and returns have their own cost, and branches that no thread takes: the next instructions have been fetched. A
 * call through a pointer first reads the address of the code from a table in constant memory. */
static inline void find_next(struct sm *sm, struct sm_slot *slot, const struct sm_timing *timing, uint32_t pc,
                             uint64_t cycle) {
    const struct divergence_group *group = slot->group;
    if (!group || group->status != DIVERGENCE_RUNS)
        return;
    bool reads_table = sm->program->exec->code[pc].kind == EXEC_KIND_CALL_INDIRECT;
    if (timing->is_call && sm->machine->lowering.call_cycles)
        slot->fetch_ready =
            cycle + sm->machine->lowering.call_cycles + (reads_table ? sm->machine->sm.constant_cycles : 0);
    else if (timing->is_branch && group->pc == pc + 1 && sm->machine->sm.untaken_cycles)
        slot->fetch_ready = cycle + sm->machine->sm.untaken_cycles;
}

/* Shows the scheduler the least progress of the bundle's rows. */
static void show_progress(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle) {
    struct sched_slot *view = &sm->schedulers.slot[s];
    view->progress = bundle->row ? bundle->row->progress : UINT32_MAX;
    for (uint32_t left = bundle->row ? 0 : bundle->mask; left; left &= left - 1) {
        uint32_t progress = sm->cx.threads->row[__builtin_ctz(left)]->progress;
        view->progress = progress < view->progress ? progress : view->progress;
    }
}

/* Lets the group wait: for registers, or at least as long as nanosleep asks. The H200 sleeps for a power of two of
 * nanoseconds (bench/hardware: nanosleep). */
static void pause_group(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    struct sm_slot *slot = &sm->slots.slot[s];
    uint64_t end = cycle + sm->machine->lowering.registers_cycles;
    if (insn->opcode == PTX_OP_NANOSLEEP) {
        uint32_t most = 1;
        const uint32_t *lanes =
            bundle->row && insn->n_src ? divergence_lanes(bundle->row, insn->operand[insn->n_dst]) : NULL;
        for (uint32_t left = lanes ? bundle->mask : 0; left; left &= left - 1)
            most = lanes[__builtin_ctz(left)] > most ? lanes[__builtin_ctz(left)] : most;
        uint64_t nanoseconds = most > 1 ? 1ull << (32 - __builtin_clz(most - 1)) : 1;
        uint64_t cycles = (uint64_t)((double)nanoseconds * sm->machine->clock_ghz);
        end = cycle + (cycles > sm->machine->lowering.sleep_cycles ? cycles : sm->machine->lowering.sleep_cycles);
    }
    slot->fetch_ready = slot->fetch_ready > end ? slot->fetch_ready : end;
}

/* Handles the effects of an instruction beyond the values that it computes. */
static void follow_up(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    if (sm_has_fault(sm))
        set_fault(sm, bundle);
    else if (sm->program->timing[bundle->pc].access != SM_ACCESS_NONE)
        sm_ldst_issue(sm, s, bundle, cycle);
    if (sm->copies.copy && !sm_has_fault(sm))
        sm_copies_follow(sm, s, bundle, cycle);
    if (sm->program->timing[bundle->pc].copies >= SM_PRODUCTS_FENCE && !sm_has_fault(sm))
        sm_products_follow(sm, s, bundle, cycle);
    if (sm->has_clusters && sm->program->timing[bundle->pc].copies == SM_COPIES_SIGNAL && !sm_has_fault(sm))
        sm_cluster_signal(sm, bundle->pc, bundle->mask, cycle);
    sm->cx.has_changed = false;
    if (sm->program->exec->code[bundle->pc].opcode == PTX_OP_PROGRESS)
        show_progress(sm, s, bundle);
}

/* Lets a group wait until its call of printf, malloc or free has been served. */
static void wait_for_call(struct sm *sm, const struct divergence_group *group, const struct divergence_bundle *bundle,
                          uint64_t cycle) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    struct sm_slot *slot = group->slot >= 0 ? &sm->slots.slot[group->slot] : NULL;
    uint64_t ready =
        sm_calls_serve(sm->calls, &sm->machine->calls, sm->program->exec, insn, sm_lanes_in(bundle->mask), cycle);
    if (slot && sm->lanes.ready)
        sm_lanes_set_fetch(sm, (uint32_t)group->slot, bundle->mask, ready);
    else if (slot && slot->fetch_ready < ready)
        slot->fetch_ready = ready;
}

/* Lets the group of a completed barrier.cluster.wait continue no earlier than the barrier says, and tells the cluster
 * of an arrival or an end. */
static void meet_cluster(struct sm *sm, struct divergence_group *group, const struct divergence_bundle *bundle,
                         uint64_t cycle) {
    const struct exec_cta *cta = group->home->cta;
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    bool waits = insn->kind == EXEC_KIND_BARRIER && insn->barrier_mode == EXEC_BARRIER_WAIT;
    if (!waits)
        sm_cluster_changed(sm, cta, bundle->pc, cycle);
    else if (group->slot >= 0 && sm->slots.slot[group->slot].fetch_ready < cta->cluster_ready)
        sm->slots.slot[group->slot].fetch_ready = cta->cluster_ready;
}

/* Lets a group whose arrival has completed a barrier continue when the others do. One that only arrives goes on. */
static void leave_barrier(struct sm *sm, const struct divergence_group *group, uint32_t pc) {
    enum exec_barrier_mode mode = (enum exec_barrier_mode)sm->program->exec->code[pc].barrier_mode;
    bool only_arrives = mode == EXEC_BARRIER_ARRIVE || mode == EXEC_BARRIER_WAIT; /* or waits for its cluster */
    struct sm_slot *slot = group->slot >= 0 ? &sm->slots.slot[group->slot] : NULL;
    if (slot && !only_arrives && group->status == DIVERGENCE_RUNS && slot->fetch_ready < sm->barrier_end)
        slot->fetch_ready = sm->barrier_end;
    sm->barrier_end = 0;
}

static inline void count_divergence(struct sm *sm, uint32_t pc) {
    sm_hot_at(sm, pc)->diverged++;
    sm->counters.machine_divergent_branches += sm->program->timing[pc].jumps;
}

static void call_control(struct sm *sm, struct divergence_group *group, const struct divergence_bundle *bundle,
                         uint64_t cycle) {
    enum exec_kind kind = (enum exec_kind)sm->program->exec->code[bundle->pc].kind;
    if (kind == EXEC_KIND_EXIT || kind == EXEC_KIND_BARRIER || kind == EXEC_KIND_CALL_BUILTIN)
        sm->last_change = cycle;
    if (sm->program->timing[bundle->pc].copies >= SM_PRODUCTS_FENCE)
        sm_products_follow(sm, (uint32_t)group->slot, bundle, cycle);
    uint64_t n_divergent = sm->divergence_counters.divergent_branches;
    uint32_t pc = bundle->pc;
    bool waits = kind == EXEC_KIND_BARRIER && sm->program->timing[pc].is_barrier && sm->machine->sm.barrier_cycles;
    sm->barrier_end = waits ? cycle + sm->machine->sm.barrier_cycles : 0;
    sm->divergence->control(sm->model, group, pc, bundle->mask, cycle);
    if (waits)
        leave_barrier(sm, group, pc);
    if (sm->divergence_counters.divergent_branches != n_divergent)
        count_divergence(sm, pc);
    if (sm_has_fault(sm))
        set_fault(sm, bundle);
    else if (sm->program->timing[pc].is_pause && group->slot >= 0)
        pause_group(sm, (uint32_t)group->slot, bundle, cycle);
    else if (kind == EXEC_KIND_CALL_BUILTIN && sm->machine->calls.is_present)
        wait_for_call(sm, group, bundle, cycle);
    else if (sm->has_clusters && (kind == EXEC_KIND_BARRIER || kind == EXEC_KIND_EXIT))
        meet_cluster(sm, group, bundle, cycle);
}

/* What call_control() does for a branch. */
static inline void call_branch(struct sm *sm, struct divergence_group *group, const struct divergence_bundle *bundle,
                               uint64_t cycle) {
    uint64_t n_divergent = sm->divergence_counters.divergent_branches;
    sm->barrier_end = 0;
    sm->divergence->control(sm->model, group, bundle->pc, bundle->mask, cycle);
    if (sm->divergence_counters.divergent_branches != n_divergent)
        count_divergence(sm, bundle->pc);
    if (sm_has_fault(sm))
        set_fault(sm, bundle);
}

static inline void execute(struct exec_context *cx, struct exec_row *row, const struct exec_insn *insn, uint32_t mask) {
    if (row)
        exec_row_insn(cx, row, insn, mask);
    else
        exec_scattered_insn(cx, insn, mask);
}

static void execute_bundle(struct sm *sm, uint32_t scheduler, uint32_t s, const struct divergence_bundle *bundle,
                           uint64_t cycle) {
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    if (sm->is_watched)
        sm_watch_bundle(sm, s, bundle);
    sm->lanes_at[bundle->pc] += sm_lanes_in(bundle->mask);
    reserve(sm, scheduler, &sm->slots.slot[s], &sm->program->timing[bundle->pc], bundle->ready, cycle, false);
    if (!bundle->mask || insn->kind >= sm->first_model_kind)
        return;
    execute(&sm->cx, bundle->row, insn, bundle->mask);
    if (insn->kind != EXEC_KIND_LANES)
        follow_up(sm, s, bundle, cycle);
}

/* Completes an instruction whose last bundle has executed. */
static void complete(struct sm *sm, struct divergence_group *group, const struct divergence_bundle *bundle,
                     bool is_mixed, uint64_t cycle) {
    group->passed += sm->program->timing[bundle->pc].is_reconvergence;
    if (sm->program->exec->code[bundle->pc].kind >= sm->first_model_kind)
        call_control(sm, group, bundle, cycle);
    else if (!is_mixed && ++group->pc == group->notify_pc)
        sm->divergence->reached(sm->model, group, cycle);
}

uint32_t sm_issue_bundles(struct sm *sm, uint32_t scheduler, uint32_t s, uint32_t ready, bool *is_last,
                          uint64_t cycle) {
    struct divergence_group *group = sm->slots.slot[s].group;
    struct divergence_bundle bundle;
    uint32_t lanes = 0;
    bool is_mixed = false;
    do {
        bundle = (struct divergence_bundle){.pc = group->pc, .ready = ready};
        sm->divergence->bundle(sm->model, group, &bundle, cycle);
        lanes += sm_lanes_in(bundle.mask);
        is_mixed |= bundle.shares_issue;
        execute_bundle(sm, scheduler, s, &bundle, cycle);
        if (!sm_has_fault(sm) && bundle.is_last)
            complete(sm, group, &bundle, is_mixed, cycle);
    } while (bundle.shares_issue && !sm_has_fault(sm));
    if (is_mixed && !sm_has_fault(sm))
        sm->divergence->reached(sm->model, group, cycle);
    *is_last = bundle.is_last;
    return lanes;
}

/* Returns the lanes of the group for which the guard holds. */
static inline uint32_t guard(struct exec_context *cx, const struct divergence_group *group, struct exec_row *row,
                             const struct exec_insn *insn) {
    if (!row) {
        exec_threads_ready(cx, group->threads, group->pc, group->mask);
        exec_use_threads(cx, group->threads);
        return exec_threads_guard(group->threads, insn, group->mask);
    }
    return divergence_guard(row, insn, group->mask);
}

/* Issues a group that names its threads: lanes of its row or, without one, of group->threads. Returns the number of
 * lanes that execute. */
static inline __attribute__((always_inline)) uint32_t issue_own(struct sm *sm, uint32_t scheduler, uint32_t s,
                                                                struct exec_row *row, uint64_t cycle, bool is_plain) {
    struct sm_slot *slot = &sm->slots.slot[s];
    struct divergence_group *group = slot->group;
    uint32_t pc = group->pc;
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    const struct sm_timing *timing = &sm->program->timing[pc];
    uint32_t mask = guard(&sm->cx, group, row, insn);
    uint32_t lanes = mask == group->mask && is_plain ? sm->schedulers.slot[s].active_lanes : sm_lanes_in(mask);
    bool is_watched = !is_plain && sm->is_watched;
    sm->lanes_at[pc] += lanes;
    reserve(sm, scheduler, slot, timing, mask, cycle, is_plain);
    if (sm->issues != SM_ISSUES_PTX)
        issue_machine_instructions(sm, scheduler, slot, timing, cycle);
    if (timing->has_slow_path && row) {
        if (insn->opcode == PTX_OP_MATCH)
            match_values(sm, scheduler, s, row, insn, mask, cycle);
        else
            take_slow_path(sm, scheduler, slot, row, insn, mask, cycle);
    }
    if (!is_plain && sm->boards.board)
        sm_boards_set_fetch(sm, s, slot->fetch_ready);
    group->passed += timing->is_reconvergence;
    if (insn->kind == EXEC_KIND_LANES && !is_watched) {
        if (mask)
            execute(&sm->cx, row, insn, mask);
    } else {
        struct divergence_bundle bundle = {.pc = pc, .mask = mask, .row = row};
        if (is_watched)
            sm_watch_bundle(sm, s, &bundle);
        if (insn->kind >= sm->first_model_kind) {
            uint32_t before = group->mask;
            if (is_plain && timing->is_branch)
                call_branch(sm, group, &bundle, cycle);
            else
                call_control(sm, group, &bundle, cycle);
            if (!timing->is_predicated)
                find_next(sm, slot, timing, pc, cycle);
            if (sm->issues != SM_ISSUES_PTX && timing->is_branch && !timing->is_predicated)
                part(sm, slot, before);
            return lanes;
        }
        if (mask) {
            execute(&sm->cx, row, insn, mask);
            follow_up(sm, s, &bundle, cycle);
        }
    }
    if (++group->pc == group->notify_pc) {
        uint32_t before = group->mask;
        sm->divergence->reached(sm->model, group, cycle);
        if (sm->issues != SM_ISSUES_PTX)
            part(sm, slot, before);
    }
    return lanes;
}

/* Issues the instructions that follow and become no machine instruction of their own. Their results are ready as soon
 * as their operands are. One that needs data from memory waits for its turn. */
static void issue_folded(struct sm *sm, uint32_t s) {
    struct sm_slot *slot = &sm->slots.slot[s];
    struct divergence_group *group = slot->group;
    while (group->status == DIVERGENCE_RUNS && group->pc != group->notify_pc) {
        const struct exec_insn *insn = &sm->program->exec->code[group->pc];
        const struct sm_timing *timing = &sm->program->timing[group->pc];
        uint64_t ready = 0;
        bool is_argument = insn->goes_to_memory && timing->access == SM_ACCESS_NONE; /* in a register */
        if ((insn->kind != EXEC_KIND_LANES && !is_argument) || slot->parts + timing->parts >= ISA_PARTS)
            return;
        if (sm->boards.board)
            ready = sm_boards_operands(sm, group, timing, group->mask);
        for (unsigned i = 0; i < timing->n_registers && !sm->boards.board; i++)
            ready = slot->register_ready[timing->reg[i]] > ready ? slot->register_ready[timing->reg[i]] : ready;
        if (ready == SM_NEVER || group->pc + 1 == group->notify_pc)
            return;
        uint32_t mask = divergence_guard(group->row, insn, group->mask);
        if (sm->is_watched)
            sm_watch_bundle(sm, s, &(struct divergence_bundle){.pc = group->pc, .mask = mask, .row = group->row});
        sm->lanes_at[group->pc] += sm_lanes_in(mask);
        sm_count_issue(sm, sm_lanes_in(mask));
        slot->parts = (uint8_t)(slot->parts + timing->parts);
        if (mask)
            execute(&sm->cx, group->row, insn, mask);
        if (sm->boards.board)
            sm_boards_set_results(sm, s, timing, mask, ready);
        for (unsigned i = 0; i < timing->n_destinations && !sm->boards.board; i++)
            slot->register_ready[timing->reg[i]] = ready;
        group->passed += timing->is_reconvergence;
        group->pc++;
    }
}

/* Returns whether issue_folded() may find an instruction. Most need an issue of their own. */
static inline bool may_fold(const struct sm *sm, const struct divergence_group *group) {
    return sm->issues == SM_ISSUES_FOLDED && group->status == DIVERGENCE_RUNS &&
           sm->program->timing[group->pc].parts < ISA_PARTS && divergence_is_in_row(group);
}

uint32_t sm_issue_row(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    return issue_own(sm, scheduler, s, sm->slots.slot[s].group->row, cycle, false);
}

static __attribute__((noinline)) uint32_t issue_threads(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    return issue_own(sm, scheduler, s, NULL, cycle, false);
}

static inline __attribute__((always_inline)) uint32_t issue_picked(struct sm *sm, uint32_t scheduler, uint32_t s,
                                                                   uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    bool is_first = !slot->is_continued, is_last = true;
    uint32_t lanes = divergence_is_in_row(slot->group) ? issue_own(sm, scheduler, s, slot->group->row, cycle, false)
                     : slot->group->threads            ? issue_threads(sm, scheduler, s, cycle)
                                                       : sm_issue_bundles(sm, scheduler, s, ~0u, &is_last, cycle);
    if (sm_has_fault(sm))
        return lanes;
    if (is_first) {
        sm_schedulers_issued(&sm->schedulers, scheduler, s, cycle);
    }
    if (may_fold(sm, slot->group))
        issue_folded(sm, s);
    slot->is_continued = !is_last;
    bool goes_on = !is_last && !slot->group->is_blocked && slot->group->ready_cycle <= cycle + 1;
    sm->schedulers.continued[scheduler] = goes_on ? (int)s : SM_NO_SLOT;
    if (!goes_on) /* otherwise the group stays ready, and its scheduler picks no
                     other */
        sm_prepare(sm, s, cycle);
    return lanes;
}

uint32_t sm_issue_picked(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    return issue_picked(sm, scheduler, s, cycle);
}

static __attribute__((noinline)) void issue_any(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    if (sm->divergence->joint)
        sm_issue_jointly(sm, scheduler, s, cycle);
    else
        sm_count_issue(sm, issue_picked(sm, scheduler, s, cycle));
}

/* What issue_any() does for a group in a row of a plain SM. Such a group issues an instruction at once. */
static __attribute__((noinline)) void issue_plainly(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    const struct divergence_group *group = sm->slots.slot[s].group;
    const struct exec_row *row = group->row;
    uint32_t mask = group->mask;
    sm_count_issue(sm, issue_own(sm, scheduler, s, group->row, cycle, true));
    if (sm_has_fault(sm))
        return;
    sm_schedulers_issued(&sm->schedulers, scheduler, s, cycle);
    group = sm->slots.slot[s].group;
    if (may_fold(sm, group))
        issue_folded(sm, s);
    sm_prepare_next(sm, s, group->mask != mask || group->row != row, cycle);
}

/* What issue_plainly() does for a pure function with one result, as most instructions are, or a plain load or store.
 * Such an instruction has no other effect, so unless the path ends here its group goes on with the next one. */
static inline __attribute__((always_inline)) void issue_directly(struct sm *sm, uint32_t scheduler, uint32_t s,
                                                                 struct divergence_group *group, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    const struct exec_insn *insn = &sm->program->exec->code[group->pc];
    const struct sm_timing *timing = &sm->program->timing[group->pc];
    uint32_t mask = divergence_guard(group->row, insn, group->mask), pc = group->pc++;
    uint32_t lanes = mask == group->mask ? sm->schedulers.slot[s].active_lanes : sm_lanes_in(mask);
    uint64_t result = cycle + timing->latency_cycles;
    sm->lanes_at[pc] += lanes;
    sm_count_issue(sm, lanes);
    slot->fetch_ready = cycle + sm->cycles_to_next;
    sm_units_occupy(&sm->units, timing->unit, scheduler, cycle + timing->occupancy_cycles);
    slot->result_ready = result > slot->result_ready ? result : slot->result_ready;
    if (sm->access_cycles > 1 && sm_takes_turns(timing))
        *sm_access_entry(sm, slot) = cycle + sm->access_cycles;
    for (unsigned i = 0; i < timing->n_destinations; i++)
        slot->register_ready[timing->reg[i]] = result;
    if (sm->issues != SM_ISSUES_PTX)
        issue_machine_instructions(sm, scheduler, slot, timing, cycle);
    if (timing->has_slow_path)
        take_slow_path(sm, scheduler, slot, group->row, insn, mask, cycle);
    group->passed += timing->is_reconvergence;
    if (mask)
        exec_row_insn(&sm->cx, group->row, insn, mask);
    if (mask && insn->kind != EXEC_KIND_LANES) {
        const struct divergence_bundle bundle = {.pc = pc, .mask = mask, .row = group->row};
        if (sm_has_fault(sm)) {
            set_fault(sm, &bundle);
            return;
        }
        if (timing->access != SM_ACCESS_NONE)
            sm_ldst_issue(sm, s, &bundle, cycle);
    }
    sm_schedulers_issued(&sm->schedulers, scheduler, s, cycle);
    if (may_fold(sm, group))
        issue_folded(sm, s);
    sm_prepare_next(sm, s, false, cycle);
}

void sm_issue(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    struct divergence_group *group = sm->slots.slot[s].group;
    sm->cx.time = cycle;
    if (!sm->is_plain || !divergence_is_in_row(group))
        issue_any(sm, scheduler, s, cycle);
    else if (sm->program->timing[group->pc].is_direct && group->pc + 1 != group->notify_pc)
        issue_directly(sm, scheduler, s, group, cycle);
    else
        issue_plainly(sm, scheduler, s, cycle);
}
