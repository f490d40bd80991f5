/* Control instructions, thread by thread. See resolve.h. */
#include "divergence/parts/resolve.h"

#include <string.h>

#include "divergence/parts/threads.h"
#include "exec/check/check.h"

static void set_lanes(uint32_t next[EXEC_LANES], uint32_t mask, uint32_t pc) {
    for (uint32_t left = mask; left; left &= left - 1)
        next[__builtin_ctz(left)] = pc;
}

bool divergence_pcs_agree(const uint32_t next[EXEC_LANES], uint32_t lanes) {
    uint32_t first = lanes ? next[__builtin_ctz(lanes)] : 0;
    for (uint32_t left = lanes; left; left &= left - 1)
        if (next[__builtin_ctz(left)] != first)
            return false;
    return true;
}

/* --- one row --- */

static void branch_indexed(const struct exec_context *cx, const struct exec_row *row, uint32_t pc, uint32_t mask,
                           uint32_t next[EXEC_LANES]) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    const uint32_t *table = cx->grid->program->branch_table[insn->branch_table];
    const uint32_t *index = divergence_lanes(row, insn->operand[0]);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        next[lane] = index[lane] < table[0] ? table[1 + index[lane]] : pc + 1;
    }
}

static void call_indirect(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t mask,
                          uint32_t next[EXEC_LANES]) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_call_site *site = &program->call_site[program->code[pc].call_site];
    uint64_t address[EXEC_LANES]; /* a copy: entering a function may write the register */
    memcpy(address, divergence_lanes(row, site->target), sizeof address);
    for (uint32_t left = mask, same; left && !cx->fault.kind; left &= ~same) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), callee = exec_function_at(program, address[lane]);
        if (callee == PTX_NO_INDEX) {
            exec_fault_set(cx, EXEC_FAULT_BAD_CALL, lane, 0, 0, "%s", "");
            return;
        }
        same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            same |= (uint32_t)(address[__builtin_ctz(rest)] == address[lane]) << __builtin_ctz(rest);
        exec_enter_function(cx, row, pc, callee, same);
        set_lanes(next, same, program->function[callee].first_pc);
    }
}

static void leave_function(struct exec_context *cx, struct exec_row *row, uint32_t mask, uint32_t next[EXEC_LANES]) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct exec_frame_header header;
        memcpy(&header, row->local + (size_t)lane * cx->grid->local_bytes + row->frame[lane], sizeof header);
        next[lane] = header.return_pc;
    }
    exec_leave_function(cx, row, mask);
}

static void end_threads(struct exec_row *row, uint32_t mask) {
    row->live &= ~mask;
    divergence_cta(row)->n_live_rows -= !row->live;
}

/* Executes the instruction for lanes of a row (not 0) whose guard is true. */
static void execute(struct exec_context *cx, uint32_t pc, struct exec_row *row, uint32_t mask,
                    uint32_t next[EXEC_LANES]) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_insn *insn = &program->code[pc];
    cx->row = row; /* a fault reports its lanes */
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH_INDEXED:
        branch_indexed(cx, row, pc, mask, next);
        break;
    case EXEC_KIND_CALL:
        exec_enter_function(cx, row, pc, program->function_of[insn->target], mask);
        break;
    case EXEC_KIND_CALL_INDIRECT:
        call_indirect(cx, row, pc, mask, next);
        break;
    case EXEC_KIND_CALL_BUILTIN:
        exec_row_insn(cx, row, insn, mask);
        break;
    case EXEC_KIND_RETURN:
        leave_function(cx, row, mask, next);
        break;
    case EXEC_KIND_EXIT:
        end_threads(row, mask);
        break;
    case EXEC_KIND_TRAP:
        exec_fault_set(cx, EXEC_FAULT_TRAP, (unsigned)__builtin_ctz(mask), 0, 0, "%s", "");
        break;
    default:
        break;
    }
}

/* --- several rows --- */

bool divergence_is_row_sync(const struct exec_insn *insn) {
    bool is_warp_barrier =
        insn->kind == EXEC_KIND_NOTHING && (insn->opcode == PTX_OP_BAR || insn->opcode == PTX_OP_BARRIER);
    return exec_acts_on_row(insn->kind) || is_warp_barrier;
}

void divergence_pass_row_sync(struct exec_row *row, const struct exec_insn *insn, uint32_t mask) {
    if (row->block->check && mask && !exec_acts_on_row(insn->kind))
        exec_check_sync_row(row, insn, mask);
}

/* What becomes of threads whose guard is true; there is at least one. */
static struct divergence_outcome outcome_of(const struct exec_program *program, uint32_t pc) {
    const struct exec_insn *insn = &program->code[pc];
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH_INDEXED:
        return (struct divergence_outcome){.effect = DIVERGENCE_BRANCHES, .target = EXEC_NO_PC};
    case EXEC_KIND_CALL:
        return (struct divergence_outcome){.effect = DIVERGENCE_CALLS,
                                           .target = program->function[program->function_of[insn->target]].first_pc};
    case EXEC_KIND_CALL_INDIRECT:
        return (struct divergence_outcome){.effect = DIVERGENCE_CALLS, .target = EXEC_NO_PC};
    case EXEC_KIND_RETURN:
        return (struct divergence_outcome){.effect = DIVERGENCE_RETURNS, .target = EXEC_NO_PC};
    case EXEC_KIND_EXIT:
        return (struct divergence_outcome){.effect = DIVERGENCE_ENDS, .target = EXEC_NO_PC};
    case EXEC_KIND_BARRIER:
        return (struct divergence_outcome){.effect = DIVERGENCE_MEETS_BLOCK, .target = pc + 1};
    default:
        return (struct divergence_outcome){
            .effect = divergence_is_row_sync(insn) ? DIVERGENCE_MEETS_ROW : DIVERGENCE_PASSES, .target = pc + 1};
    }
}

/* Sets target and is_divergent of an indexed branch from the threads' next pcs. */
static void compare_targets(struct divergence_outcome *outcome, uint32_t pc, uint32_t n_rows, const uint32_t *active,
                            const uint32_t *taken, uint32_t (*next)[EXEC_LANES]) {
    uint32_t target = EXEC_NO_PC;
    bool is_one = true;
    for (uint32_t i = 0; i < n_rows; i++)
        for (uint32_t left = taken[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            target = target == EXEC_NO_PC ? next[i][lane] : target;
            is_one &= next[i][lane] == target;
        }
    outcome->is_divergent = !is_one || (target != pc + 1 && !divergence_masks_are_equal(active, taken, n_rows));
    if (is_one)
        outcome->target = target;
}

struct divergence_outcome divergence_resolve(struct exec_context *cx, uint32_t pc, struct exec_row *rows,
                                             uint32_t n_rows, const uint32_t *active, const uint32_t *taken,
                                             uint32_t (*next)[EXEC_LANES]) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH)
        return n_rows == 1 ? divergence_resolve_branch(insn, pc, 1, active, taken)
                           : divergence_resolve_branch(insn, pc, n_rows, active, taken);
    if (divergence_masks_are_empty(taken, n_rows)) {
        bool is_branch = insn->kind == EXEC_KIND_BRANCH_INDEXED;
        return (struct divergence_outcome){.effect = is_branch ? DIVERGENCE_BRANCHES : DIVERGENCE_PASSES,
                                           .target = pc + 1};
    }
    struct divergence_outcome outcome = outcome_of(cx->grid->program, pc);
    for (uint32_t i = 0; i < n_rows && !cx->fault.kind && !divergence_has_to_wait(&outcome); i++)
        if (taken[i])
            execute(cx, pc, &rows[i], taken[i], next[i]);
    if (outcome.effect == DIVERGENCE_BRANCHES)
        compare_targets(&outcome, pc, n_rows, active, taken, next);
    return outcome;
}

/* --- threads with a pc each --- */

/* Sets the pcs of active lanes that divergence_resolve() has not written. */
static void spread(const struct divergence_outcome *outcome, uint32_t pc, uint32_t active, uint32_t taken,
                   uint32_t next[EXEC_LANES]) {
    set_lanes(next, active & ~taken, pc + 1);
    if (outcome->target != EXEC_NO_PC || divergence_has_ended(outcome))
        set_lanes(next, taken, outcome->target);
}

struct divergence_outcome divergence_resolve_lanes(struct exec_context *cx, uint32_t pc, struct exec_row *row,
                                                   uint32_t active, uint32_t taken, uint32_t next[EXEC_LANES]) {
    struct divergence_outcome outcome =
        divergence_resolve(cx, pc, row, 1, &active, &taken, (uint32_t(*)[EXEC_LANES])next);
    spread(&outcome, pc, active, taken, next);
    return outcome;
}

uint32_t divergence_same_row(const struct exec_threads *threads, uint32_t among, uint32_t *home) {
    const struct exec_row *row = threads->row[__builtin_ctz(among)];
    uint32_t same = 0, at_home = 0;
    for (uint32_t left = among; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), is_same = threads->row[lane] == row;
        same |= is_same << lane;
        at_home |= is_same << threads->lane[lane];
    }
    *home = at_home;
    return same;
}

uint32_t divergence_same_block(const struct exec_threads *threads, uint32_t among) {
    const struct exec_block *block = threads->row[__builtin_ctz(among)]->block;
    uint32_t same = 0;
    for (uint32_t left = among; left; left &= left - 1)
        same |= (uint32_t)(threads->row[__builtin_ctz(left)]->block == block) << __builtin_ctz(left);
    return same;
}

struct divergence_outcome divergence_resolve_threads(struct exec_context *cx, uint32_t pc, struct exec_threads *threads,
                                                     uint32_t active, uint32_t taken, uint32_t next[EXEC_LANES]) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    struct divergence_outcome outcome;
    if (insn->kind == EXEC_KIND_BRANCH || !taken) { /* the guard decides, whatever the rows */
        outcome = divergence_resolve(cx, pc, NULL, 1, &active, &taken, NULL);
        spread(&outcome, pc, active, taken, next);
        return outcome;
    }
    exec_threads_send_home(cx, threads, pc, active); /* rows execute these */
    outcome = outcome_of(cx->grid->program, pc);
    if (divergence_has_to_wait(&outcome)) {
        set_lanes(next, active, pc + 1);
        return outcome;
    }
    for (uint32_t left = taken, lanes, home; left && !cx->fault.kind; left &= ~lanes) {
        uint32_t home_next[EXEC_LANES];
        lanes = divergence_same_row(threads, left, &home);
        divergence_resolve_lanes(cx, pc, threads->row[__builtin_ctz(lanes)], home, home, home_next);
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            next[__builtin_ctz(rest)] = home_next[threads->lane[__builtin_ctz(rest)]];
    }
    if (outcome.effect == DIVERGENCE_BRANCHES)
        compare_targets(&outcome, pc, 1, &active, &taken, (uint32_t(*)[EXEC_LANES])next);
    set_lanes(next, active & ~taken, pc + 1);
    return outcome;
}
