/* Inside exec: mbarriers, for the instructions that signal them. */
#pragma once

#include "exec/internal.h"

/* Completes `bytes` of the transactions that the mbarrier at this offset of the block's shared memory expects, and sets
 * cx->async.mbarrier of the lane. Returns false after a fault. */
bool exec_mbarrier_complete(struct exec_context *cx, unsigned lane, uint64_t offset, uint32_t bytes);

/* mbarrier.c */
exec_act_fn *exec_select_mbarrier(const struct exec_form *form);
exec_lanes_fn *exec_select_pending_count(const struct exec_form *form);
exec_act_fn *exec_select_copy_arrive(const struct exec_form *form); /* cp.async.mbarrier.arrive */
/* copy.c: the other forms of cp, and st.async */
exec_act_fn *exec_select_copy(const struct exec_form *form);
exec_act_fn *exec_select_store_async(const struct exec_form *form);
/* atomic_async.c: red.async */
exec_act_fn *exec_select_red_async(const struct exec_form *form);

/* Returns the address that sources k (a base) and k + 1 (its offset) have in a lane. */
static inline uint64_t exec_based_address(const struct exec_context *cx, const struct exec_operands *o, unsigned k,
                                          unsigned lane) {
    uint64_t offset = ((const uint64_t *)o->src[k + 1])[lane];
    if (cx->insn->operand[cx->insn->n_dst + k].width == PTX_WIDTH_64)
        return ((const uint64_t *)o->src[k])[lane] + offset;
    return (uint32_t)(((const uint32_t *)o->src[k])[lane] + offset);
}
