/* The post-dominator stack of a group that is wider than a row: a large warp, a block. pdom.h with masks over several
 * rows; a mask is an array with one word of lanes for each row of the stack. The rules are the same, and with one row
 * so are the states. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/spin.h"

struct divergence_wide_entry {
    uint32_t pc, reconvergence;
    bool is_call;
    bool is_path;    /* one side of a divergent branch: a sibling may run while this one waits */
    bool is_join;    /* paths above it still run */
    bool is_waiting; /* at a barrier: the instruction at wait_pc, with the threads in wait_mask */
    uint32_t wait_pc;
    uint32_t label; /* the model's own; moves with the entry and is 0 in a new one */
    uint32_t mask[EXEC_MAX_ROWS], wait_mask[EXEC_MAX_ROWS];
};

struct divergence_wide_stack {
    struct divergence_wide_entry *entry;
    uint32_t depth, capacity;
    uint32_t n_rows;
    struct exec_row *row; /* its rows lie one behind the other */
};

/* --- masks --- */

static inline bool divergence_wide_is_empty(const uint32_t *mask, uint32_t n_rows) {
    uint32_t any = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        any |= mask[i];
    return !any;
}

static inline bool divergence_wide_is_equal(const uint32_t *a, const uint32_t *b, uint32_t n_rows) {
    uint32_t differs = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}

static inline uint32_t divergence_wide_count(const uint32_t *mask, uint32_t n_rows) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_rows; i++)
        n += (uint32_t)__builtin_popcount(mask[i]);
    return n;
}

static inline void divergence_wide_remove(uint32_t *from, const uint32_t *mask, uint32_t n_rows) {
    for (uint32_t i = 0; i < n_rows; i++)
        from[i] &= ~mask[i];
}

/* --- the stack --- */

static inline struct divergence_wide_entry *divergence_wide_top(const struct divergence_wide_stack *stack) {
    return &stack->entry[stack->depth - 1];
}

/* The stack's only entry: all threads of these rows, which lie one behind the other, at pc. */
void divergence_wide_start(struct divergence_wide_stack *stack, struct exec_row *rows, uint32_t n_rows, uint32_t pc);
void divergence_wide_free(struct divergence_wide_stack *stack);
void divergence_wide_pop_finished(struct divergence_wide_stack *stack);
/* Takes threads out of every entry, or (a return) out of every entry of the running call. */
void divergence_wide_take_out(struct divergence_wide_stack *stack, const uint32_t *mask, bool stops_at_call);
void divergence_wide_push_path(struct divergence_wide_stack *stack, uint32_t pc, uint32_t reconvergence,
                               const uint32_t *mask);
/* The running entry splits: threads in `first` go to first_pc, the others to second_pc; first_pc runs first. */
void divergence_wide_diverge(struct divergence_wide_stack *stack, uint32_t reconvergence, uint32_t first_pc,
                             const uint32_t *first, uint32_t second_pc);
bool divergence_wide_yield(struct divergence_wide_stack *stack);
void divergence_wide_break_join(struct divergence_wide_stack *stack);
/* To be asked at each control instruction, at pc: true when the running path has stayed in a short piece of code so
 * long that it probably waits for what other threads of the stack will write. Break the join then. */
bool divergence_wide_spins(struct divergence_watch *watch, const struct divergence_wide_stack *stack, uint32_t pc);

/* --- control instructions --- */

struct divergence_wide_outcome {
    bool is_branch, is_divergent;
    bool has_exited; /* threads have ended; the block's count of live rows is kept */
    bool at_barrier; /* divergence_wide_arrive() is next */
};

/* Executes the control instruction at pc for the threads in mask (guard applied; may be empty) and moves the running
 * entry on. Faults are left in cx->fault. */
struct divergence_wide_outcome divergence_wide_control(struct divergence_wide_stack *stack, struct exec_context *cx,
                                                       uint32_t pc, const uint32_t *mask);

/* The threads in mask of stack number `which` have come to the barrier instruction at pc. stack[] holds the stacks of
 * all rows of the block. Gives the stacks (a bit for each) that have entries which were set free. Rows of one stack may
 * wait for different barriers: the entry goes on when the last is complete. */
uint64_t divergence_wide_arrive(struct divergence_wide_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                                struct exec_cta *cta, uint32_t which, uint32_t pc, const uint32_t *mask);
/* Threads have ended: barriers that waited for them only are complete. Gives the stacks set free. */
uint64_t divergence_wide_after_exit(struct divergence_wide_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                                    struct exec_cta *cta);
