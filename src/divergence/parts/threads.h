/* A thread's block, its guard and its operands. */
#pragma once

#include "divergence/divergence.h"

static inline struct exec_cta *divergence_cta(const struct exec_row *row) {
    return (struct exec_cta *)row->block; /* the block is the first member */
}

static inline struct divergence_block *divergence_block_of(const struct exec_row *row) {
    return divergence_cta(row)->owner;
}

/* Lanes of `mask` for which the instruction's guard holds. */
static inline uint32_t divergence_guard(const struct exec_row *row, const struct exec_insn *insn, uint32_t mask) {
    if (!insn->guard.offset)
        return mask;
    uint32_t predicate = *(const uint32_t *)(row->base[EXEC_BASE_REGISTERS] + insn->guard.offset);
    return mask & (insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate);
}

/* An operand's lanes. */
static inline const void *divergence_lanes(const struct exec_row *row, struct exec_operand operand) {
    return row->base[operand.base] + operand.offset;
}
