/* Control flow on the post-dominator stack: what branches, calls, returns, exits and barriers do to a warp of one or
 * more rows. Models in which every thread has its own pc use threads.h instead. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/pdom.h"

struct divergence_outcome {
    bool is_branch, is_divergent;
    bool has_exited; /* threads have ended; the block's count of live rows is up to date */
    bool at_barrier; /* the caller calls divergence_arrive() next */
};

/* Executes the control instruction at pc for the threads in mask (guard applied; may be empty) and advances the running
 * entry. Faults are left in cx->fault. */
struct divergence_outcome divergence_control(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc,
                                             const uint32_t *mask);

/* The threads in mask of stack number `which` arrive at the barrier instruction at pc. stack[] holds the stacks of all
 * rows of the block. Returns the stacks (a bit for each) with entries that continue. Rows of one stack may wait for
 * different barriers: the entry continues when the last is complete. */
uint64_t divergence_arrive(struct divergence_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                           struct exec_cta *cta, uint32_t which, uint32_t pc, const uint32_t *mask);
/* Threads have ended: barriers that waited only for them are complete. Returns the stacks with entries that
 * continue. */
uint64_t divergence_after_exit(struct divergence_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                               struct exec_cta *cta);
