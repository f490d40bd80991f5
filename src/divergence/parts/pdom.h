/* The post-dominator stack of a warp: which threads run next, and where (Fung 2007; Narasiman 2011, section 2). The
 * warp is one row, or several consecutive rows of a block (a large warp, a compacted block). Masks have one word of
 * lanes for each row.
 *
 * An entry is {pc, reconvergence pc, mask}, and the top one runs. A divergent branch turns the running entry into a
 * join (mask = all its threads, pc = the reconvergence pc) and pushes one path for each side. A path that reaches its
 * reconvergence pc is popped. A call pushes an entry for the callee. A return removes threads from every entry down to
 * the call's, so the caller's entry continues when the last thread is back.
 *
 * The entries are a tree: the paths of a branch stand on its join, the callee on its caller. The level of an entry is
 * its depth in this tree, and an entry is followed by all entries that stand on it. A path that waits at a barrier
 * gives way, if necessary together with the entries below it: the tree keeps its shape, and siblings change places. */
#pragma once

#include "divergence/parts/masks.h"
#include "divergence/parts/spin.h"
#include "exec/cta.h"

struct divergence_entry {
    uint32_t pc, reconvergence;
    uint32_t level; /* it stands on the nearest entry below it of a lower level, by one */
    bool is_call;
    bool is_path;    /* one side of a divergent branch: a sibling may run while this one waits */
    bool is_join;    /* paths above it still run */
    bool is_waiting; /* its threads in divergence_wait_mask() wait at the barrier instruction at wait_pc */
    uint32_t wait_pc;
    uint32_t label;  /* for the model; moves with the entry, 0 in a new one */
    uint32_t mask[]; /* a word for each row, followed by as many words for the wait mask */
};

struct divergence_stack {
    unsigned char *bytes; /* the entries, each divergence_entry_bytes() long */
    size_t capacity;      /* in bytes */
    uint32_t depth, n_rows;
    struct exec_row *row; /* n_rows consecutive rows; NULL: the lanes belong to no single row (odgs) */
};

static inline size_t divergence_entry_bytes(uint32_t n_rows) {
    return sizeof(struct divergence_entry) + 2 * (size_t)n_rows * sizeof(uint32_t);
}

static inline struct divergence_entry *divergence_stack_at(const struct divergence_stack *stack, uint32_t index) {
    return (struct divergence_entry *)(stack->bytes + index * divergence_entry_bytes(stack->n_rows));
}

static inline struct divergence_entry *divergence_stack_top(const struct divergence_stack *stack) {
    return divergence_stack_at(stack, stack->depth - 1);
}

static inline uint32_t *divergence_wait_mask(const struct divergence_stack *stack,
                                             const struct divergence_entry *entry) {
    return (uint32_t *)entry->mask + stack->n_rows;
}

/* Starts with one entry: all threads of n_rows consecutive rows, at pc. */
void divergence_stack_start(struct divergence_stack *stack, struct exec_row *rows, uint32_t n_rows, uint32_t pc);
/* The same for lanes that hold threads of any rows. The model then handles control instructions itself. */
void divergence_stack_start_lanes(struct divergence_stack *stack, uint32_t mask, uint32_t pc);
void divergence_stack_free(struct divergence_stack *stack);
/* Pops entries that have no threads left or have reached their reconvergence pc. */
void divergence_stack_pop_finished(struct divergence_stack *stack);
/* Removes threads of the top from every entry or, for a return, from every entry of the running call. */
void divergence_stack_remove(struct divergence_stack *stack, const uint32_t *mask, bool stops_at_call);
/* The same, but leaves entries that are finished. Returns whether it stopped at a call. */
bool divergence_stack_take_out(struct divergence_stack *stack, const uint32_t *mask, bool stops_at_call);
/* Functions that push copy the mask first: it may lie in the stack. */
void divergence_stack_push_path(struct divergence_stack *stack, uint32_t level, uint32_t pc, uint32_t reconvergence,
                                const uint32_t *mask);
void divergence_stack_push_call(struct divergence_stack *stack, uint32_t level, uint32_t pc, const uint32_t *mask);
/* Turns the running entry into the join of the paths that the caller pushes next. Returns their level. */
uint32_t divergence_stack_make_join(struct divergence_stack *stack, uint32_t reconvergence);
/* Adds an entry below all others: a join at the reconvergence pc of the lowest one. */
void divergence_stack_add_bottom(struct divergence_stack *stack);
/* Splits the running entry: threads in `first` go to first_pc, the others to second_pc; first_pc runs first. */
void divergence_stack_diverge(struct divergence_stack *stack, uint32_t reconvergence, uint32_t first_pc,
                              const uint32_t *first, uint32_t second_pc);
/* The running path waits at a barrier: runs one that does not wait, a near relative before a distant one. Returns false
 * if there is none. */
bool divergence_stack_yield(struct divergence_stack *stack);
/* The running path makes no progress alone: it spins on a value that other threads will write. Threads that wait at its
 * join continue without it, and siblings take turns. They no longer reconverge there, on which results do not
 * depend. */
void divergence_stack_break_join(struct divergence_stack *stack);
/* Called at each control instruction, at pc. Returns true if the running path has stayed in a short stretch of code so
 * long that it probably waits for a value that other threads of the stack will write. The caller then breaks the
 * join. */
bool divergence_stack_spins(struct divergence_watch *watch, const struct divergence_stack *stack, uint32_t pc);
