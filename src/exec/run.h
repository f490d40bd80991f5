/* What both ways to run an instruction need: row.c and scattered.c. */
#pragma once

#include <fenv.h>

#include "exec/exec.h"

static inline void exec_run_lanes(const struct exec_insn *insn, const struct exec_operands *o) {
    if (!(insn->flags & EXEC_FLAG_ROUNDS)) {
        insn->lanes(o);
        return;
    }
    static const int host_mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(host_mode[insn->rounding]);
    insn->lanes(o);
    fesetround(FE_TONEAREST);
}

static inline void exec_refresh_clock(const struct exec_context *cx, struct exec_row *row) {
    for (unsigned lane = 0; lane < EXEC_LANES; lane++) {
        row->clock[lane] = (uint32_t)cx->time;
        row->clock_hi[lane] = (uint32_t)(cx->time >> 32);
        row->clock64[lane] = row->globaltimer[lane] = cx->time;
        row->globaltimer_lo[lane] = (uint32_t)cx->time;
        row->globaltimer_hi[lane] = (uint32_t)(cx->time >> 32);
    }
}

static inline void *exec_lanes_of(const struct exec_row *row, struct exec_operand operand) {
    return row->base[operand.base] + operand.offset;
}
