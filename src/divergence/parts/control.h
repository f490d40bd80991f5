/* Control flow on the post-dominator stack: what branches, calls, returns, exits and barriers do to a row. */
#pragma once

#include "divergence/divergence.h"
#include "divergence/parts/pdom.h"

struct divergence_outcome {
    bool is_branch, is_divergent;
    uint32_t exited;     /* lanes whose threads have ended */
    uint32_t at_barrier; /* lanes that have come to a barrier: divergence_arrive() is next */
};

/* Executes the control instruction at pc for the lanes in mask (guard applied; may be 0) and moves the running entry
 * on. Faults are left in cx->fault. */
struct divergence_outcome divergence_control(struct divergence_stack *stack, struct exec_context *cx,
                                             struct exec_row *row, uint32_t pc, uint32_t mask);

/* Lanes of row number `row` arrive at the barrier instruction at pc. stack[] holds the stacks of all rows of the block.
 * Gives the rows (bit per row) whose waiting entries were set free. */
uint64_t divergence_arrive(struct divergence_stack *stack, struct exec_context *cx, struct exec_cta *cta, uint32_t row,
                           uint32_t pc, uint32_t mask);
/* Threads have ended: barriers that waited for them only are complete. Gives the rows set free. */
uint64_t divergence_after_exit(struct divergence_stack *stack, struct exec_context *cx, struct exec_cta *cta);

/* Barriers without the stack. A row's lanes arrive at the instruction at pc; gives the number of the barrier when that
 * completes it, or DIVERGENCE_NO_BARRIER. The caller releases who waits and calls exec_barrier_reset(). */
int divergence_barrier_arrive(struct exec_context *cx, struct exec_cta *cta, struct exec_row *row, uint32_t pc,
                              uint32_t mask);
bool divergence_barrier_is_complete(const struct exec_context *cx, const struct exec_cta *cta, uint32_t number);
/* Writes bar.red's result for lanes that waited at the instruction. */
void divergence_barrier_result(struct exec_row *row, const struct exec_insn *insn, const struct exec_barrier *barrier,
                               uint32_t mask);
/* The barrier that the instruction names for a lane. */
uint32_t divergence_barrier_number(const struct exec_row *row, const struct exec_insn *insn, uint32_t lane);
