/* Control instructions on the post-dominator stack of a warp of one or more rows. resolve.h finds where threads go; the
 * functions here change the stack accordingly, and release the threads that wait at barriers. */
#pragma once

#include "divergence/parts/pdom.h"
#include "divergence/parts/resolve.h"

/* Executes the control instruction at pc for the threads of the running entry, changes the stack and returns the
 * outcome. `taken` (may be empty): those whose guard is true. At a barrier the caller calls divergence_arrive() next.
 * Threads of one row are together on their stack, so they do not wait for each other. Faults are left in cx->fault. */
struct divergence_outcome divergence_control(struct divergence_stack *stack, struct exec_context *cx, uint32_t pc,
                                             const uint32_t *taken);
/* The second half of divergence_control(): changes the stack after divergence_resolve() for the threads of the running
 * entry. */
void divergence_stack_follow(struct divergence_stack *stack, const struct exec_insn *insn, uint32_t pc,
                             const struct divergence_outcome *outcome, const uint32_t *taken,
                             uint32_t (*next)[EXEC_LANES]);

/* An indexed branch pushes a path for each target, even if there is only one. */
static inline bool divergence_pushes_paths(const struct exec_insn *insn, const uint32_t *taken, uint32_t n_rows) {
    return insn->kind == EXEC_KIND_BRANCH_INDEXED && !divergence_masks_are_empty(taken, n_rows);
}

/* The threads in `mask` of stack number `which` arrive at the barrier instruction at pc. stack[] holds the stacks of
 * all rows of the block. Returns the stacks (a bit for each) with entries that continue. Rows of one stack may wait for
 * different barriers; the entry continues when the last one is complete. */
uint64_t divergence_arrive(struct divergence_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                           struct exec_cta *cta, uint32_t which, uint32_t pc, const uint32_t *mask);
/* Threads have ended: barriers that waited only for them are complete. Returns the stacks with entries that
 * continue. */
uint64_t divergence_after_exit(struct divergence_stack *stack, uint32_t n_stacks, struct exec_context *cx,
                               struct exec_cta *cta);
