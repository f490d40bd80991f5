/* The post-dominator stack of a row: which lanes run next, and where (Fung 2007; Narasiman 2011, section 2).
 *
 * Entry = {pc, reconvergence pc, mask}; the top one runs. A divergent branch turns the running entry into a join (mask
 * = all its lanes, pc = the meeting point) and pushes one path for each side; a path that reaches its reconvergence pc
 * is popped. A call pushes an entry for the callee; a return takes lanes out of every entry down to it, so that the
 * caller's entry goes on when the last lane is back. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct divergence_entry {
    uint32_t pc, reconvergence, mask;
    bool is_call;
    bool is_path;    /* one side of a divergent branch: a sibling may run while this one waits */
    bool is_join;    /* paths above it still run */
    bool is_waiting; /* at a barrier: the instruction at wait_pc, with the lanes in wait_mask */
    uint32_t wait_pc, wait_mask;
};

struct divergence_stack {
    struct divergence_entry *entry;
    uint32_t depth, capacity;
};

static inline struct divergence_entry *divergence_stack_top(const struct divergence_stack *stack) {
    return &stack->entry[stack->depth - 1];
}

void divergence_stack_start(struct divergence_stack *stack, uint32_t pc, uint32_t mask);
void divergence_stack_free(struct divergence_stack *stack);
/* Drops entries that have no lanes left or have reached their reconvergence point. */
void divergence_stack_pop_finished(struct divergence_stack *stack);
/* Takes lanes out of every entry, or (a return) out of every entry of the running call. */
void divergence_stack_remove(struct divergence_stack *stack, uint32_t mask, bool stops_at_call);
void divergence_stack_push_path(struct divergence_stack *stack, uint32_t pc, uint32_t reconvergence, uint32_t mask);
void divergence_stack_push_call(struct divergence_stack *stack, uint32_t pc, uint32_t mask);
/* The running entry becomes the join of paths that the caller pushes next. */
void divergence_stack_make_join(struct divergence_stack *stack, uint32_t reconvergence);
/* The running entry splits: lanes in `first` go to first_pc, the others to second_pc; first_pc runs first. */
void divergence_stack_diverge(struct divergence_stack *stack, uint32_t reconvergence, uint32_t first_pc, uint32_t first,
                              uint32_t second_pc);
/* The running path waits at a barrier: gives way to a sibling that does not. False when there is none. */
bool divergence_stack_yield(struct divergence_stack *stack);
/* The running path makes no progress alone (it spins on what other lanes will write): lanes that wait at its join go on
 * without it, and siblings take turns. Reconvergence there is given up; results do not depend on it. */
void divergence_stack_break_join(struct divergence_stack *stack);
