/* Barriers of a block (bar.sync, bar.arrive, bar.red, barrier.cluster): arrivals of a row's lanes, completion, results.
 * The caller keeps track of the threads that wait, on stacks (control.h) or one by one (sync.h), and resumes them when
 * a barrier is complete. */
#pragma once

#include "divergence/divergence.h"

/* A row's lanes arrive at the barrier instruction at pc. Returns the number of the barrier if that completes it,
 * otherwise DIVERGENCE_NO_BARRIER. The caller releases the threads that wait and calls exec_barrier_reset(). */
int divergence_barrier_arrive(struct exec_context *cx, struct exec_cta *cta, struct exec_row *row, uint32_t pc,
                              uint32_t mask);
/* Returns whether the lanes wait at the barrier instruction at pc, until it is complete; call it before they arrive. */
bool divergence_barrier_waits(const struct exec_context *cx, const struct exec_cta *cta, const struct exec_row *row,
                              uint32_t pc, uint32_t mask);
bool divergence_barrier_is_complete(const struct exec_context *cx, const struct exec_cta *cta, uint32_t number);
/* Writes bar.red's result for lanes that waited at the instruction. */
void divergence_barrier_result(struct exec_row *row, const struct exec_insn *insn, const struct exec_barrier *barrier,
                               uint32_t mask);
/* The barrier that the instruction names for a lane. */
uint32_t divergence_barrier_number(const struct exec_row *row, const struct exec_insn *insn, uint32_t lane);
/* Returns those of the lanes for which the instruction names this barrier. */
uint32_t divergence_barrier_lanes(const struct exec_row *row, const struct exec_insn *insn, uint32_t number,
                                  uint32_t lanes);
