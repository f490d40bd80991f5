/* Control instructions on the post-dominator stack. See control.h. */
#include "divergence/parts/control.h"

#include <string.h>

#include "divergence/parts/barrier.h"

/* Takes the threads that go to `target` out of `left`. Returns them in `same`, and whether there are any. */
static bool take_target(uint32_t (*next)[EXEC_LANES], uint32_t n_rows, uint32_t target, uint32_t *left,
                        uint32_t *same) {
    for (uint32_t i = 0; i < n_rows; i++) {
        same[i] = 0;
        for (uint32_t rest = left[i]; rest; rest &= rest - 1)
            same[i] |= (uint32_t)(next[i][__builtin_ctz(rest)] == target) << __builtin_ctz(rest);
        left[i] &= ~same[i];
    }
    return !divergence_masks_are_empty(same, n_rows);
}

/* The next pc of the first thread in `left`; EXEC_NO_PC: it is empty. */
static uint32_t first_target(uint32_t (*next)[EXEC_LANES], uint32_t n_rows, const uint32_t *left) {
    for (uint32_t i = 0; i < n_rows; i++)
        if (left[i])
            return next[i][__builtin_ctz(left[i])];
    return EXEC_NO_PC;
}

/* Pushes a callee's entry; threads may have called different functions, and each is one entry. */
static void follow_call(struct divergence_stack *stack, const struct divergence_outcome *outcome, const uint32_t *taken,
                        uint32_t (*next)[EXEC_LANES]) {
    uint32_t left[EXEC_MAX_ROWS], same[EXEC_MAX_ROWS], target, level = divergence_stack_top(stack)->level + 1;
    if (outcome->target != EXEC_NO_PC) {
        divergence_stack_push_call(stack, level, outcome->target, taken);
        return;
    }
    memcpy(left, taken, stack->n_rows * sizeof *left);
    while ((target = first_target(next, stack->n_rows, left)) != EXEC_NO_PC) {
        take_target(next, stack->n_rows, target, left, same);
        divergence_stack_push_call(stack, level, target, same);
    }
}

/* Pushes one path for each next pc: first that of the next instruction, which runs last, then those of the table. */
static void follow_indexed(struct divergence_stack *stack, uint32_t reconvergence, uint32_t pc, const uint32_t *taken,
                           uint32_t (*next)[EXEC_LANES]) {
    uint32_t left[EXEC_MAX_ROWS], same[EXEC_MAX_ROWS], target = pc + 1;
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        left[i] = divergence_stack_top(stack)->mask[i];
        for (uint32_t rest = left[i] & ~taken[i]; rest; rest &= rest - 1)
            next[i][__builtin_ctz(rest)] = pc + 1;
    }
    uint32_t level = divergence_stack_make_join(stack, reconvergence);
    for (; target != EXEC_NO_PC; target = first_target(next, stack->n_rows, left))
        if (take_target(next, stack->n_rows, target, left, same) && target != reconvergence)
            divergence_stack_push_path(stack, level, target, reconvergence, same);
}

static inline void follow_branch(struct divergence_stack *stack, const struct exec_insn *insn, uint32_t pc,
                                 const struct divergence_outcome *outcome, const uint32_t *taken) {
    if (outcome->is_divergent)
        divergence_stack_diverge(stack, insn->reconvergence, outcome->target, taken, pc + 1);
    else
        divergence_stack_top(stack)->pc = outcome->target;
}

void divergence_stack_follow(struct divergence_stack *stack, const struct exec_insn *insn, uint32_t pc,
                             const struct divergence_outcome *outcome, const uint32_t *taken,
                             uint32_t (*next)[EXEC_LANES]) {
    divergence_stack_top(stack)->pc = pc + 1;
    switch (outcome->effect) {
    case DIVERGENCE_BRANCHES:
        if (divergence_pushes_paths(insn, taken, stack->n_rows))
            follow_indexed(stack, insn->reconvergence, pc, taken, next);
        else
            follow_branch(stack, insn, pc, outcome, taken);
        break;
    case DIVERGENCE_CALLS:
        follow_call(stack, outcome, taken, next);
        break;
    case DIVERGENCE_RETURNS:
        divergence_stack_remove(stack, taken, true);
        break;
    case DIVERGENCE_ENDS:
        divergence_stack_remove(stack, taken, false);
        break;
    case DIVERGENCE_MEETS_BLOCK:
        return; /* the entry still has to wait */
    case DIVERGENCE_MEETS_ROW:
        for (uint32_t i = 0; i < stack->n_rows; i++)
            divergence_pass_row_sync(&stack->row[i], insn, taken[i]);
        break;
    case DIVERGENCE_PASSES:
        break;
    }
    divergence_stack_pop_finished(stack);
}

/* Any control instruction but a branch with one target. Not inlined: the array is large. */
static __attribute__((noinline)) struct divergence_outcome
control_other(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc, const uint32_t *taken) {
    uint32_t next[EXEC_MAX_ROWS][EXEC_LANES];
    struct divergence_outcome outcome =
        divergence_resolve(cx, pc, stack->row, stack->n_rows, divergence_stack_top(stack)->mask, taken, next);
    if (!cx->fault.kind)
        divergence_stack_follow(stack, &cx->grid->program->code[pc], pc, &outcome, taken, next);
    return outcome;
}

struct divergence_outcome divergence_control(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc,
                                             const uint32_t *taken) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    if (insn->kind != EXEC_KIND_BRANCH)
        return control_other(stack, cx, pc, taken);
    const uint32_t *active = divergence_stack_top(stack)->mask;
    struct divergence_outcome outcome = stack->n_rows == 1
                                            ? divergence_resolve_branch(insn, pc, 1, active, taken)
                                            : divergence_resolve_branch(insn, pc, stack->n_rows, active, taken);
    follow_branch(stack, insn, pc, &outcome, taken);
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
    exec_cta_reset_barrier(cta, number);
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
    for (uint64_t open = cta->open_barriers; open; open &= open - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(open);
        if (divergence_barrier_is_complete(cx, cta, i))
            released |= release(stack, n_stacks, cx, cta, i);
    }
    pop_all(stack, released);
    return released;
}
