/* What control instructions do to single threads: for models in which every thread has its own program counter. */
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

/* A warp-wide instruction or barrier (bar.warp.sync): it needs lanes of its own row to be there. */
bool divergence_is_row_sync(const struct exec_insn *insn);

/* Executes the control instruction at pc for the lanes `mask` of a row (all its threads in the group, the guard not
 * applied) and gives each lane's next pc in next[]; EXEC_NO_PC: the thread has ended (it is no longer in row->live, and
 * the block's count of live rows is kept). Branches, calls, returns, exits, traps, builtins and what does nothing; for
 * barriers and warp-wide instructions lanes whose guard is false get pc + 1 and the others are left in *waits: sync.h
 * is next for those. Faults are left in cx->fault. */
void divergence_next_pcs(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t mask,
                         uint32_t next[EXEC_LANES], uint32_t *waits);
