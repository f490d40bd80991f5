/* The post-dominator stack over several rows. See wide.h. */
#include "divergence/parts/wide.h"

#include <stdlib.h>
#include <string.h>

#include "divergence/parts/control.h"
#include "divergence/parts/threads.h"

static struct divergence_wide_entry *push(struct divergence_wide_stack *stack, uint32_t pc, const uint32_t *mask) {
    if (stack->depth == stack->capacity) {
        stack->capacity = stack->capacity ? 2 * stack->capacity : 8;
        stack->entry = realloc(stack->entry, stack->capacity * sizeof *stack->entry);
        if (!stack->entry)
            abort();
    }
    struct divergence_wide_entry *entry = &stack->entry[stack->depth++];
    *entry = (struct divergence_wide_entry){.pc = pc, .reconvergence = EXEC_NO_PC};
    memcpy(entry->mask, mask, stack->n_rows * sizeof *mask);
    return entry;
}

void divergence_wide_start(struct divergence_wide_stack *stack, struct exec_row *rows, uint32_t n_rows, uint32_t pc) {
    uint32_t mask[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < n_rows; i++)
        mask[i] = rows[i].threads;
    stack->depth = 0;
    stack->n_rows = n_rows;
    stack->row = rows;
    push(stack, pc, mask);
}

void divergence_wide_free(struct divergence_wide_stack *stack) {
    free(stack->entry);
    *stack = (struct divergence_wide_stack){.entry = NULL};
}

void divergence_wide_pop_finished(struct divergence_wide_stack *stack) {
    while (stack->depth) {
        struct divergence_wide_entry *top = divergence_wide_top(stack);
        bool is_running = top->pc != top->reconvergence || top->is_waiting;
        if (is_running && !divergence_wide_is_empty(top->mask, stack->n_rows)) {
            top->is_join = false; /* all its paths have met again */
            return;
        }
        stack->depth--;
    }
}

void divergence_wide_take_out(struct divergence_wide_stack *stack, const uint32_t *mask, bool stops_at_call) {
    for (uint32_t i = stack->depth; i-- > 0;) {
        divergence_wide_remove(stack->entry[i].mask, mask, stack->n_rows);
        if (stops_at_call && stack->entry[i].is_call)
            break;
    }
    divergence_wide_pop_finished(stack);
}

void divergence_wide_push_path(struct divergence_wide_stack *stack, uint32_t pc, uint32_t reconvergence,
                               const uint32_t *mask) {
    struct divergence_wide_entry *path = push(stack, pc, mask);
    path->reconvergence = reconvergence;
    path->is_path = true;
}

static void make_join(struct divergence_wide_stack *stack, uint32_t reconvergence) {
    struct divergence_wide_entry *top = divergence_wide_top(stack);
    top->pc = reconvergence;
    top->is_join = true;
}

void divergence_wide_diverge(struct divergence_wide_stack *stack, uint32_t reconvergence, uint32_t first_pc,
                             const uint32_t *first, uint32_t second_pc) {
    struct divergence_wide_entry *top = divergence_wide_top(stack);
    uint32_t second[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < stack->n_rows; i++)
        second[i] = top->mask[i] & ~first[i];
    if (reconvergence == top->reconvergence && reconvergence != EXEC_NO_PC &&
        (first_pc == reconvergence || second_pc == reconvergence)) {
        /* The join below waits already: loops do not grow the stack. */
        memcpy(top->mask, first_pc == reconvergence ? second : first, stack->n_rows * sizeof *first);
        top->pc = first_pc == reconvergence ? second_pc : first_pc;
        return;
    }
    make_join(stack, reconvergence);
    if (second_pc != reconvergence) /* threads that go straight to the meeting point just wait there */
        divergence_wide_push_path(stack, second_pc, reconvergence, second);
    if (first_pc != reconvergence)
        divergence_wide_push_path(stack, first_pc, reconvergence, first);
}

/* --- paths that wait or spin --- */

/* The lowest of the paths that the top one has as siblings; the top itself when it has none. */
static uint32_t first_sibling(const struct divergence_wide_stack *stack) {
    uint32_t at = stack->depth - 1;
    while (at > 0 && stack->entry[at].is_path && stack->entry[at - 1].is_path && !stack->entry[at - 1].is_join &&
           stack->entry[at - 1].reconvergence == stack->entry[at].reconvergence)
        at--;
    return at;
}

/* The top goes below its siblings. */
static void rotate(struct divergence_wide_stack *stack, uint32_t lowest) {
    struct divergence_wide_entry top = *divergence_wide_top(stack);
    memmove(&stack->entry[lowest + 1], &stack->entry[lowest], (stack->depth - 1 - lowest) * sizeof top);
    stack->entry[lowest] = top;
}

/* Paths that never meet (threads end on the way) need no join of their own: they become siblings of its siblings. */
static bool drop_join(struct divergence_wide_stack *stack, uint32_t lowest) {
    if (lowest == 0)
        return false;
    struct divergence_wide_entry *join = &stack->entry[lowest - 1];
    if (!join->is_join || !join->is_path || join->is_call || join->pc != EXEC_NO_PC)
        return false;
    memmove(join, join + 1, (stack->depth - lowest) * sizeof *join);
    stack->depth--;
    return true;
}

bool divergence_wide_yield(struct divergence_wide_stack *stack) {
    uint32_t lowest;
    do {
        lowest = first_sibling(stack);
        for (uint32_t tried = lowest; tried < stack->depth; tried++) {
            if (!divergence_wide_top(stack)->is_waiting)
                return true;
            rotate(stack, lowest);
        }
    } while (drop_join(stack, lowest));
    return !divergence_wide_top(stack)->is_waiting;
}

void divergence_wide_break_join(struct divergence_wide_stack *stack) {
    uint32_t lowest = first_sibling(stack);
    if (lowest > 0 && stack->entry[lowest - 1].is_join) {
        struct divergence_wide_entry *join = &stack->entry[lowest - 1];
        uint32_t outer = join->reconvergence;
        for (uint32_t i = lowest; i < stack->depth; i++) {
            divergence_wide_remove(join->mask, stack->entry[i].mask, stack->n_rows);
            stack->entry[i].reconvergence = outer;
            stack->entry[i].is_call |= join->is_call;
        }
        join->is_join = false;
        join->is_path = true;
        bool has_nobody = divergence_wide_is_empty(join->mask, stack->n_rows);
        if (has_nobody || join->pc == outer) { /* nobody waits there, or they wait at the next join already */
            memmove(join, join + 1, (stack->depth - lowest) * sizeof *join);
            stack->depth--;
        }
        lowest = first_sibling(stack);
    }
    rotate(stack, lowest);
    divergence_wide_pop_finished(stack);
}

bool divergence_wide_spins(struct divergence_watch *watch, const struct divergence_wide_stack *stack, uint32_t pc) {
    bool is_diverged = stack->depth > 1;
    return divergence_spins(watch, is_diverged, is_diverged && divergence_wide_top(stack)->is_waiting, pc);
}

/* --- control instructions --- */

/* What brx and indirect calls decide by, thread by thread. */
struct targets {
    uint64_t (*at)[EXEC_LANES]; /* by row of the stack */
    uint32_t left[EXEC_MAX_ROWS];
};

/* The threads that go where the first of those that are left goes, and that target; false when none is left. */
static bool next_target(struct targets *targets, uint32_t n_rows, uint64_t *target, uint32_t *same) {
    uint32_t first = 0;
    while (first < n_rows && !targets->left[first])
        first++;
    if (first == n_rows)
        return false;
    *target = targets->at[first][__builtin_ctz(targets->left[first])];
    for (uint32_t i = 0; i < n_rows; i++) {
        same[i] = 0;
        for (uint32_t left = targets->left[i]; left; left &= left - 1)
            same[i] |= (uint32_t)(targets->at[i][__builtin_ctz(left)] == *target) << __builtin_ctz(left);
        targets->left[i] &= ~same[i];
    }
    return true;
}

static const void *lanes_of(const struct exec_row *row, struct exec_operand operand) {
    return row->base[operand.base] + operand.offset;
}

static void call(struct divergence_wide_stack *stack, struct exec_context *cx, uint32_t pc, uint32_t callee,
                 const uint32_t *mask) {
    for (uint32_t i = 0; i < stack->n_rows && !cx->fault.kind; i++)
        if (mask[i])
            exec_enter_function(cx, &stack->row[i], pc, callee, mask[i]);
    push(stack, cx->grid->program->function[callee].first_pc, mask)->is_call = true;
}

static void call_indirect(struct divergence_wide_stack *stack, struct exec_context *cx, uint32_t pc,
                          const uint32_t *mask) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_call_site *site = &program->call_site[program->code[pc].imm];
    uint64_t address[EXEC_MAX_ROWS][EXEC_LANES], target; /* copies: entering a function may write the register */
    uint32_t same[EXEC_MAX_ROWS];
    struct targets targets = {.at = address};
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        memcpy(address[i], lanes_of(&stack->row[i], site->target), sizeof address[i]);
        targets.left[i] = mask[i];
    }
    while (!cx->fault.kind && next_target(&targets, stack->n_rows, &target, same)) {
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

/* brx.idx: one path for each distinct target. True when there is more than one. */
static bool branch_indexed(struct divergence_wide_stack *stack, const struct exec_context *cx, uint32_t pc,
                           const uint32_t *mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    const uint32_t *table = cx->grid->program->branch_table[insn->target];
    uint64_t next[EXEC_MAX_ROWS][EXEC_LANES], target;
    uint32_t stay[EXEC_MAX_ROWS], same[EXEC_MAX_ROWS], n_paths = 0;
    struct targets targets = {.at = next};
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        const uint32_t *index = lanes_of(&stack->row[i], insn->operand[0]);
        for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
            next[i][lane] = index[lane] < table[0] ? table[1 + index[lane]] : pc + 1;
        stay[i] = divergence_wide_top(stack)->mask[i] & ~mask[i]; /* the guard is false: falls through */
        targets.left[i] = mask[i];
    }
    make_join(stack, insn->reconvergence);
    if (!divergence_wide_is_empty(stay, stack->n_rows)) {
        if (pc + 1 != insn->reconvergence)
            divergence_wide_push_path(stack, pc + 1, insn->reconvergence, stay);
        n_paths++;
    }
    for (; next_target(&targets, stack->n_rows, &target, same); n_paths++)
        if (target != insn->reconvergence)
            divergence_wide_push_path(stack, (uint32_t)target, insn->reconvergence, same);
    return n_paths > 1;
}

static bool branch(struct divergence_wide_stack *stack, const struct exec_insn *insn, uint32_t pc,
                   const uint32_t *mask) {
    struct divergence_wide_entry *top = divergence_wide_top(stack);
    if (divergence_wide_is_equal(mask, top->mask, stack->n_rows)) {
        top->pc = insn->target;
        return false;
    }
    if (divergence_wide_is_empty(mask, stack->n_rows))
        return false;
    divergence_wide_diverge(stack, insn->reconvergence, insn->target, mask, pc + 1);
    return true;
}

static void end_threads(struct divergence_wide_stack *stack, const uint32_t *mask) {
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        struct exec_row *row = &stack->row[i];
        bool was_live = row->live;
        row->live &= ~mask[i];
        divergence_cta(row)->n_live_rows -= was_live && !row->live;
    }
    divergence_wide_take_out(stack, mask, false);
}

/* Instructions that each row executes for itself. */
static void each_row(const struct divergence_wide_stack *stack, struct exec_context *cx, const struct exec_insn *insn,
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

struct divergence_wide_outcome divergence_wide_control(struct divergence_wide_stack *stack, struct exec_context *cx,
                                                       uint32_t pc, const uint32_t *mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    struct divergence_wide_outcome outcome = {.is_branch = insn->kind == EXEC_KIND_BRANCH ||
                                                           insn->kind == EXEC_KIND_BRANCH_INDEXED};
    divergence_wide_top(stack)->pc = pc + 1;
    if (divergence_wide_is_empty(mask, stack->n_rows)) {
        divergence_wide_pop_finished(stack);
        return outcome;
    }
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH:
        outcome.is_divergent = branch(stack, insn, pc, mask);
        break;
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
        divergence_wide_take_out(stack, mask, true);
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
    divergence_wide_pop_finished(stack);
    return outcome;
}

/* --- barriers --- */

/* Sets free the rows of an entry that wait for this barrier; true when the entry may go on. */
static bool release_entry(const struct divergence_wide_stack *stack, struct divergence_wide_entry *entry,
                          const struct exec_context *cx, const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[entry->wait_pc];
    for (uint32_t i = 0; i < stack->n_rows; i++) {
        struct exec_row *row = &stack->row[i];
        uint32_t mask = entry->wait_mask[i];
        if (!mask || divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(mask)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, mask);
        entry->wait_mask[i] = 0;
    }
    entry->is_waiting = !divergence_wide_is_empty(entry->wait_mask, stack->n_rows);
    return !entry->is_waiting;
}

/* Sets free who waits for this barrier. Entries that are finished then stay until pop_all(). */
static uint64_t release(struct divergence_wide_stack *stack, uint32_t n_stacks, const struct exec_context *cx,
                        struct exec_cta *cta, uint32_t number) {
    uint64_t released = 0;
    for (uint32_t i = 0; i < n_stacks; i++)
        for (uint32_t d = 0; d < stack[i].depth; d++) {
            struct divergence_wide_entry *entry = &stack[i].entry[d];
            if (entry->is_waiting && release_entry(&stack[i], entry, cx, &cta->barrier[number], number))
                released |= 1ull << i;
        }
    exec_barrier_reset(&cta->barrier[number]);
    return released;
}

/* A barrier may have been the last instruction of a path. */
static void pop_all(struct divergence_wide_stack *stack, uint64_t which) {
    for (; which; which &= which - 1)
        divergence_wide_pop_finished(&stack[__builtin_ctzll(which)]);
}

uint64_t divergence_wide_arrive(struct divergence_wide_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                                struct exec_cta *cta, uint32_t which, uint32_t pc, const uint32_t *mask) {
    struct divergence_wide_stack *own = &stack[which];
    struct divergence_wide_entry *top = divergence_wide_top(own);
    bool waits = cx->grid->program->code[pc].reconvergence != EXEC_BARRIER_ARRIVE;
    uint64_t released = 0;
    memset(top->wait_mask, 0, own->n_rows * sizeof *mask);
    for (uint32_t i = 0; i < own->n_rows && !cx->fault.kind; i++) {
        if (!mask[i])
            continue;
        if (waits) {
            top->is_waiting = true;
            top->wait_pc = pc;
            top->wait_mask[i] = mask[i];
        }
        int complete = divergence_barrier_arrive(cx, cta, &own->row[i], pc, mask[i]);
        if (complete != DIVERGENCE_NO_BARRIER)
            released |= release(stack, n_stacks, cx, cta, (uint32_t)complete);
    }
    pop_all(stack, released | 1ull << which);
    return released;
}

uint64_t divergence_wide_after_exit(struct divergence_wide_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                                    struct exec_cta *cta) {
    uint64_t released = 0;
    for (uint32_t i = 0; i < EXEC_N_BARRIERS; i++)
        if (divergence_barrier_is_complete(cx, cta, i))
            released |= release(stack, n_stacks, cx, cta, i);
    pop_all(stack, released);
    return released;
}
