/* The post-dominator stack. See pdom.h. */
#include "divergence/parts/pdom.h"

#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"

static struct divergence_entry *push(struct divergence_stack *stack) {
    if (stack->depth == stack->capacity) {
        stack->capacity = stack->capacity ? 2 * stack->capacity : 16;
        stack->entry = realloc(stack->entry, stack->capacity * sizeof *stack->entry);
        if (!stack->entry)
            abort();
    }
    struct divergence_entry *entry = &stack->entry[stack->depth++];
    *entry = (struct divergence_entry){.reconvergence = EXEC_NO_PC};
    return entry;
}

void divergence_stack_start(struct divergence_stack *stack, uint32_t pc, uint32_t mask) {
    stack->depth = 0;
    struct divergence_entry *entry = push(stack);
    entry->pc = pc;
    entry->mask = mask;
}

void divergence_stack_free(struct divergence_stack *stack) {
    free(stack->entry);
    *stack = (struct divergence_stack){.entry = NULL};
}

void divergence_stack_pop_finished(struct divergence_stack *stack) {
    while (stack->depth) {
        struct divergence_entry *top = divergence_stack_top(stack);
        if (top->mask && (top->pc != top->reconvergence || top->is_waiting)) {
            top->is_join = false; /* all its paths have met again */
            return;
        }
        stack->depth--;
    }
}

void divergence_stack_remove(struct divergence_stack *stack, uint32_t mask, bool stops_at_call) {
    for (uint32_t i = stack->depth; i-- > 0;) {
        stack->entry[i].mask &= ~mask;
        if (stops_at_call && stack->entry[i].is_call)
            break;
    }
    divergence_stack_pop_finished(stack);
}

void divergence_stack_push_path(struct divergence_stack *stack, uint32_t pc, uint32_t reconvergence, uint32_t mask) {
    struct divergence_entry *path = push(stack);
    path->pc = pc;
    path->reconvergence = reconvergence;
    path->mask = mask;
    path->is_path = true;
}

void divergence_stack_push_call(struct divergence_stack *stack, uint32_t pc, uint32_t mask) {
    struct divergence_entry *callee = push(stack);
    callee->pc = pc;
    callee->mask = mask;
    callee->is_call = true;
}

void divergence_stack_make_join(struct divergence_stack *stack, uint32_t reconvergence) {
    struct divergence_entry *top = divergence_stack_top(stack);
    top->pc = reconvergence;
    top->is_join = true;
}

void divergence_stack_diverge(struct divergence_stack *stack, uint32_t reconvergence, uint32_t first_pc, uint32_t first,
                              uint32_t second_pc) {
    struct divergence_entry *top = divergence_stack_top(stack);
    uint32_t second = top->mask & ~first;
    if (reconvergence == top->reconvergence && reconvergence != EXEC_NO_PC &&
        (first_pc == reconvergence || second_pc == reconvergence)) {
        top->mask =
            first_pc == reconvergence ? second : first; /* the join below waits already: loops do not grow the stack */
        top->pc = first_pc == reconvergence ? second_pc : first_pc;
        return;
    }
    divergence_stack_make_join(stack, reconvergence);
    if (second_pc != reconvergence) /* lanes that go straight to the meeting point just wait there */
        divergence_stack_push_path(stack, second_pc, reconvergence, second);
    if (first_pc != reconvergence)
        divergence_stack_push_path(stack, first_pc, reconvergence, first);
}

/* The lowest of the paths that the top one has as siblings; the top itself when it has none. */
static uint32_t first_sibling(const struct divergence_stack *stack) {
    uint32_t at = stack->depth - 1;
    while (at > 0 && stack->entry[at].is_path && stack->entry[at - 1].is_path && !stack->entry[at - 1].is_join &&
           stack->entry[at - 1].reconvergence == stack->entry[at].reconvergence)
        at--;
    return at;
}

/* The top goes below its siblings. */
static void rotate(struct divergence_stack *stack, uint32_t lowest) {
    struct divergence_entry top = *divergence_stack_top(stack);
    memmove(&stack->entry[lowest + 1], &stack->entry[lowest], (stack->depth - 1 - lowest) * sizeof top);
    stack->entry[lowest] = top;
}

/* Paths that never meet (threads end on the way) need no join of their own: they become siblings of its siblings. */
static bool drop_join(struct divergence_stack *stack, uint32_t lowest) {
    if (lowest == 0)
        return false;
    struct divergence_entry *join = &stack->entry[lowest - 1];
    if (!join->is_join || !join->is_path || join->is_call || join->pc != EXEC_NO_PC)
        return false;
    memmove(join, join + 1, (stack->depth - lowest) * sizeof *join);
    stack->depth--;
    return true;
}

bool divergence_stack_yield(struct divergence_stack *stack) {
    uint32_t lowest;
    do {
        lowest = first_sibling(stack);
        for (uint32_t tried = lowest; tried < stack->depth; tried++) {
            if (!divergence_stack_top(stack)->is_waiting)
                return true;
            rotate(stack, lowest);
        }
    } while (drop_join(stack, lowest));
    return !divergence_stack_top(stack)->is_waiting;
}

void divergence_stack_break_join(struct divergence_stack *stack) {
    uint32_t lowest = first_sibling(stack);
    if (lowest > 0 && stack->entry[lowest - 1].is_join) {
        struct divergence_entry *join = &stack->entry[lowest - 1];
        uint32_t outer = join->reconvergence;
        for (uint32_t i = lowest; i < stack->depth; i++) {
            join->mask &= ~stack->entry[i].mask;
            stack->entry[i].reconvergence = outer;
            stack->entry[i].is_call |= join->is_call;
        }
        join->is_join = false;
        join->is_path = true;
        if (!join->mask || join->pc == outer) { /* nobody waits there, or they wait at the next join already */
            memmove(join, join + 1, (stack->depth - lowest) * sizeof *join);
            stack->depth--;
        }
        lowest = first_sibling(stack);
    }
    rotate(stack, lowest);
    divergence_stack_pop_finished(stack);
}
