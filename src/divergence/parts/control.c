/* Control flow on the post-dominator stack. See control.h. */
#include "divergence/parts/control.h"

#include <string.h>

#include "divergence/parts/barrier.h"
#include "divergence/parts/threads.h"

/* Finds the threads that have the same target as the first one in `left`, and takes them out of `left`. Returns false
 * if `left` is empty. */
static bool next_target(uint64_t (*target_of)[EXEC_LANES], uint32_t *left, uint32_t n_rows, uint64_t *target,
                        uint32_t *same) {
    uint32_t first = 0;
    while (first < n_rows && !left[first])
        first++;
    if (first == n_rows)
        return false;
    *target = target_of[first][__builtin_ctz(left[first])];
    for (uint32_t i = 0; i < n_rows; i++) {
        same[i] = 0;
        for (uint32_t rest = left[i]; rest; rest &= rest - 1)
            same[i] |= (uint32_t)(target_of[i][__builtin_ctz(rest)] == *target) << __builtin_ctz(rest);
        left[i] &= ~same[i];
    }
    return true;
}

static void call(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc, uint32_t callee,
                 const uint32_t *mask) {
    for (uint32_t i = 0; i < stack->n_rows && !cx->fault.kind; i++)
        if (mask[i])
            exec_enter_function(cx, &stack->row[i], pc, callee, mask[i]);
    divergence_stack_push_call(stack, cx->grid->program->function[callee].first_pc, mask);
}

/* Threads may call different functions: pushes one entry for each. */
static void call_indirect(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc, const uint32_t *mask) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_call_site *site = &program->call_site[program->code[pc].imm];
    uint64_t address[EXEC_MAX_ROWS][EXEC_LANES], target; /* copies: entering a function may write the register */
    uint32_t left[EXEC_MAX_ROWS], same[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < stack->n_rows; i++)
        memcpy(address[i], divergence_lanes(&stack->row[i], site->target), sizeof address[i]);
    memcpy(left, mask, stack->n_rows * sizeof *left);
    while (!cx->fault.kind && next_target(address, left, stack->n_rows, &target, same)) {
        uint32_t callee = exec_function_at(program, target);
        if (callee != PTX_NO_INDEX) {
            call(stack, cx, pc, callee, same);
            continue;
        }
        uint32_t first = 0;
        while (!same[first])
            first++;
        cx->row = &stack->row[first];
        exec_fault_set(cx, EXEC_FAULT_BAD_CALL, (unsigned)__builtin_ctz(same[first]), 0, 0, "%s", "");
    }
}

/* brx.idx: pushes one path for each distinct target. Returns true if there is more than one. */
static bool branch_indexed(struct divergence_stack *stack, const struct exec_context *cx, uint32_t pc,
                           const uint32_t *mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint64_t next[EXEC_MAX_ROWS][EXEC_LANES], target;
    uint32_t stay[EXEC_MAX_ROWS], left[EXEC_MAX_ROWS], same[EXEC_MAX_ROWS], n_paths = 0;
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        for (uint32_t rest = mask[i]; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest);
            next[i][lane] = divergence_branch_target(cx, &stack->row[i], pc, lane);
        }
        stay[i] = divergence_stack_top(stack)->mask[i] & ~mask[i]; /* guard false: falls through */
    }
    memcpy(left, mask, stack->n_rows * sizeof *left);
    divergence_stack_make_join(stack, insn->reconvergence);
    if (!divergence_masks_are_empty(stay, stack->n_rows)) {
        if (pc + 1 != insn->reconvergence)
            divergence_stack_push_path(stack, pc + 1, insn->reconvergence, stay);
        n_paths++;
    }
    for (; next_target(next, left, stack->n_rows, &target, same); n_paths++)
        if (target != insn->reconvergence)
            divergence_stack_push_path(stack, (uint32_t)target, insn->reconvergence, same);
    return n_paths > 1;
}

/* Compiled for one row and for several: most control instructions are branches of one row. */
static inline __attribute__((always_inline)) bool branch(struct divergence_stack *stack, uint32_t n_rows,
                                                         const struct exec_insn *insn, uint32_t pc,
                                                         const uint32_t *mask) {
    struct divergence_entry *top = divergence_stack_top(stack);
    if (divergence_masks_are_equal(mask, top->mask, n_rows)) {
        top->pc = insn->target;
        return false;
    }
    if (divergence_masks_are_empty(mask, n_rows))
        return false;
    divergence_stack_diverge(stack, insn->reconvergence, insn->target, mask, pc + 1);
    return true;
}

static void end_threads(struct divergence_stack *stack, const uint32_t *mask) {
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        struct exec_row *row = &stack->row[i];
        bool was_live = row->live;
        row->live &= ~mask[i];
        divergence_cta(row)->n_live_rows -= was_live && !row->live;
    }
    divergence_stack_remove(stack, mask, false);
}

/* Executes an instruction row by row. */
static void each_row(const struct divergence_stack *stack, struct exec_context *cx, const struct exec_insn *insn,
                     const uint32_t *mask) {
    for (uint32_t i = 0; i < stack->n_rows && !cx->fault.kind; i++) {
        if (!mask[i])
            continue;
        cx->row = &stack->row[i];
        if (insn->kind == EXEC_KIND_CALL_BUILTIN)
            exec_row_insn(cx, &stack->row[i], insn, mask[i]);
        else if (insn->kind == EXEC_KIND_RETURN)
            exec_leave_function(cx, &stack->row[i], mask[i]);
        else
            exec_fault_set(cx, EXEC_FAULT_TRAP, (unsigned)__builtin_ctz(mask[i]), 0, 0, "%s", "");
    }
}

struct divergence_outcome divergence_control(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc,
                                             const uint32_t *mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    struct divergence_outcome outcome = {.is_branch = insn->kind == EXEC_KIND_BRANCH};
    divergence_stack_top(stack)->pc = pc + 1;
    if (insn->kind == EXEC_KIND_BRANCH) {
        outcome.is_divergent =
            stack->n_rows == 1 ? branch(stack, 1, insn, pc, mask) : branch(stack, stack->n_rows, insn, pc, mask);
        divergence_stack_pop_finished(stack);
        return outcome;
    }
    outcome.is_branch = insn->kind == EXEC_KIND_BRANCH_INDEXED;
    if (divergence_masks_are_empty(mask, stack->n_rows)) {
        divergence_stack_pop_finished(stack);
        return outcome;
    }
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH_INDEXED:
        outcome.is_divergent = branch_indexed(stack, cx, pc, mask);
        break;
    case EXEC_KIND_CALL:
        call(stack, cx, pc, cx->grid->program->function_of[insn->target], mask);
        break;
    case EXEC_KIND_CALL_INDIRECT:
        call_indirect(stack, cx, pc, mask);
        break;
    case EXEC_KIND_RETURN:
        each_row(stack, cx, insn, mask);
        divergence_stack_remove(stack, mask, true);
        break;
    case EXEC_KIND_CALL_BUILTIN:
    case EXEC_KIND_TRAP:
        each_row(stack, cx, insn, mask);
        break;
    case EXEC_KIND_EXIT:
        outcome.has_exited = true;
        end_threads(stack, mask);
        break;
    case EXEC_KIND_BARRIER:
        outcome.at_barrier = true;
        return outcome; /* the entry still has to wait */
    default:
        break;
    }
    divergence_stack_pop_finished(stack);
    return outcome;
}

/* --- barriers --- */

/* Releases the rows of an entry that wait for this barrier. Returns true if the entry may continue. */
static bool release_entry(const struct divergence_stack *stack, struct divergence_entry *entry,
                          const struct exec_context *cx, const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[entry->wait_pc];
    uint32_t *wait_mask = divergence_wait_mask(stack, entry);
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        struct exec_row *row = &stack->row[i];
        uint32_t mask = wait_mask[i];
        if (!mask || divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(mask)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, mask);
        wait_mask[i] = 0;
    }
    entry->is_waiting = !divergence_masks_are_empty(wait_mask, stack->n_rows);
    return !entry->is_waiting;
}

/* Releases all threads that wait for this barrier. Finished entries stay until pop_all(). */
static uint64_t release(struct divergence_stack *stack, uint32_t n_stacks, const struct exec_context *cx,
                        struct exec_cta *cta, uint32_t number) {
    uint64_t released = 0;
    for (uint32_t i = 0; i < n_stacks; i++)
        for (uint32_t d = 0; d < stack[i].depth; d++) {
            struct divergence_entry *entry = divergence_stack_at(&stack[i], d);
            if (entry->is_waiting && release_entry(&stack[i], entry, cx, &cta->barrier[number], number))
                released |= 1ull << i;
        }
    exec_barrier_reset(&cta->barrier[number]);
    return released;
}

/* A barrier may have been the last instruction of a path. */
static void pop_all(struct divergence_stack *stack, uint64_t which) {
    for (; which; which &= which - 1)
        divergence_stack_pop_finished(&stack[__builtin_ctzll(which)]);
}

uint64_t divergence_arrive(struct divergence_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                           struct exec_cta *cta, uint32_t which, uint32_t pc, const uint32_t *mask) {
    struct divergence_stack *own = &stack[which];
    struct divergence_entry *top = divergence_stack_top(own);
    uint32_t *wait_mask = divergence_wait_mask(own, top);
    uint64_t released = 0;
    memset(wait_mask, 0, own->n_rows * sizeof *mask);
    for (uint32_t i = 0; i < own->n_rows && !cx->fault.kind; i++) {
        if (!mask[i])
            continue;
        if (divergence_barrier_waits(cx, cta, &own->row[i], pc, mask[i])) {
            top->is_waiting = true;
            top->wait_pc = pc;
            wait_mask[i] = mask[i];
        }
        int complete = divergence_barrier_arrive(cx, cta, &own->row[i], pc, mask[i]);
        if (complete != DIVERGENCE_NO_BARRIER)
            released |= release(stack, n_stacks, cx, cta, (uint32_t)complete);
    }
    pop_all(stack, released | 1ull << which);
    return released;
}

uint64_t divergence_after_exit(struct divergence_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                               struct exec_cta *cta) {
    uint64_t released = 0;
    for (uint32_t i = 0; i < EXEC_N_BARRIERS; i++)
        if (divergence_barrier_is_complete(cx, cta, i))
            released |= release(stack, n_stacks, cx, cta, i);
    pop_all(stack, released);
    return released;
}
