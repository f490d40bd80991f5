/* Helpers for running an instruction: used by row.c, scattered.c and carried.c. */
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

/* Runs an instruction and writes only the lanes in o->mask. */
static inline void exec_run_blended(struct exec_context *cx, const struct exec_insn *insn, struct exec_operands *o) {
    void *place[EXEC_MAX_DST];
    for (unsigned i = 0; i < insn->n_dst; i++) {
        place[i] = o->dst[i];
        o->dst[i] = cx->scratch[i];
    }
    exec_run_lanes(insn, o);
    for (unsigned i = 0; i < insn->n_dst; i++)
        cx->lanes->blend[insn->operand[i].width](place[i], cx->scratch[i], o->mask);
}

static inline void exec_refresh_clock(const struct exec_context *cx, struct exec_row *row) {
    const struct exec_grid *grid = cx->grid;
    uint64_t cycle = cx->time + grid->timer_shift;
    uint64_t ns = grid->cycles_per_ns > 0 ? (uint64_t)((double)cycle / grid->cycles_per_ns) : cycle;
    for (unsigned lane = 0; lane < EXEC_LANES; lane++) {
        row->clock[lane] = (uint32_t)cx->time;
        row->clock_hi[lane] = (uint32_t)(cx->time >> 32);
        row->clock64[lane] = cx->time;
        row->globaltimer[lane] = ns;
        row->globaltimer_lo[lane] = (uint32_t)ns;
        row->globaltimer_hi[lane] = (uint32_t)(ns >> 32);
    }
}

static inline void *exec_lanes_of(const struct exec_row *row, struct exec_operand operand) {
    return row->base[operand.base] + operand.offset;
}

/* Returns whether a constant operand with these lanes is the same for all threads. The only exceptions are the rows of
 * %laneid and %lanemask_*, in which the first lane differs from the last. */
static inline bool exec_is_broadcast(struct exec_operand operand, const uint32_t *lanes) {
    return operand.base == EXEC_BASE_CONSTANTS && (operand.width != PTX_WIDTH_32 || lanes[0] == lanes[EXEC_LANES - 1]);
}
