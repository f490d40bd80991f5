/* What control instructions do to single threads: for models in which every thread has its own pc. Separate from
 * control.h because there is no stack to change: the outcome is a pc for each lane, and a return reads the pc from the
 * thread's frame, not from a stack. */
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

/* Where brx.idx at pc sends a lane whose guard is true. */
static inline uint32_t divergence_branch_target(const struct exec_context *cx, const struct exec_row *row, uint32_t pc,
                                                uint32_t lane) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    const uint32_t *table = cx->grid->program->branch_table[insn->target];
    uint32_t index = ((const uint32_t *)divergence_lanes(row, insn->operand[0]))[lane];
    return index < table[0] ? table[1 + index] : pc + 1;
}

/* A warp-wide instruction or barrier (bar.warp.sync): other lanes of its row must arrive too. */
bool divergence_is_row_sync(const struct exec_insn *insn);

/* Executes the control instruction at pc for the lanes `mask` of a row (all its threads in the group, the guard not
 * applied) and sets next[] to each lane's next pc; EXEC_NO_PC: the thread has ended, is no longer in row->live, and the
 * block's count of live rows is up to date. Handles branches, calls, returns, exits, traps, builtins and instructions
 * without effect. At barriers and warp-wide instructions, lanes whose guard is false get pc + 1 and the others are set
 * in *waits: pass those to sync.h. Faults are left in cx->fault. */
void divergence_next_pcs(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t mask,
                         uint32_t next[EXEC_LANES], uint32_t *waits);
