/* Runs one instruction: on a row in place, or on threads from anywhere through scratch lanes. One semantics, two ways
 * in. */
#include <fenv.h>
#include <string.h>

#include "exec/exec.h"

static const unsigned width_bits[PTX_N_WIDTHS] = {1, 16, 32, 64};
static const unsigned width_bytes[PTX_N_WIDTHS] = {0, 2, 4, 8};

static void run_lanes(const struct exec_insn *insn, const struct exec_operands *o) {
    if (!(insn->flags & EXEC_FLAG_ROUNDS)) {
        insn->lanes(o);
        return;
    }
    static const int host_mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(host_mode[insn->rounding]);
    insn->lanes(o);
    fesetround(FE_TONEAREST);
}

static void refresh_clock(const struct exec_context *cx, struct exec_row *row) {
    for (unsigned lane = 0; lane < EXEC_LANES; lane++) {
        row->clock[lane] = (uint32_t)cx->time;
        row->clock_hi[lane] = (uint32_t)(cx->time >> 32);
        row->clock64[lane] = row->globaltimer[lane] = cx->time;
        row->globaltimer_lo[lane] = (uint32_t)cx->time;
        row->globaltimer_hi[lane] = (uint32_t)(cx->time >> 32);
    }
}

static inline void *lanes_of(const struct exec_row *row, struct exec_operand operand) {
    return row->base[operand.base] + operand.offset;
}

static void run_blended(struct exec_context *cx, const struct exec_insn *insn, struct exec_operands *o) {
    void *place[EXEC_MAX_DST];
    for (unsigned i = 0; i < insn->n_dst; i++) {
        place[i] = o->dst[i];
        o->dst[i] = cx->scratch[i];
    }
    run_lanes(insn, o);
    for (unsigned i = 0; i < insn->n_dst; i++)
        cx->lanes->blend(place[i], cx->scratch[i], o->mask, width_bits[insn->operand[i].width]);
}

void exec_row_insn(struct exec_context *cx, struct exec_row *row, const struct exec_insn *insn, uint32_t mask) {
    if (insn->flags & EXEC_FLAG_READS_CLOCK)
        refresh_clock(cx, row);
    struct exec_operands o;
    o.mask = mask;
    o.imm = insn->imm;
    /* Most instructions have one destination and up to three sources: those are placed without a loop. Places of
     * operands that do not exist are computed and never used. */
    const struct exec_operand *source = insn->operand + insn->n_dst;
    o.dst[0] = lanes_of(row, insn->operand[0]);
    o.src[0] = lanes_of(row, source[0]);
    o.src[1] = lanes_of(row, source[1]);
    o.src[2] = lanes_of(row, source[2]);
    for (unsigned i = 1; i < insn->n_dst; i++)
        o.dst[i] = lanes_of(row, insn->operand[i]);
    for (unsigned i = 3; i < insn->n_src; i++)
        o.src[i] = lanes_of(row, source[i]);
    if (insn->kind == EXEC_KIND_LANES) {
        if (mask == ~0u)
            run_lanes(insn, &o);
        else
            run_blended(cx, insn, &o);
        return;
    }
    cx->insn = insn;
    cx->row = row;
    insn->act(cx, &o);
}

/* --- scattered --- */

static void gather(const struct exec_context *cx, struct exec_operand operand, uint32_t mask, unsigned char *to) {
    unsigned bytes = width_bytes[operand.width];
    uint32_t bits = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        const unsigned char *from = lanes_of(cx->row_of[lane], operand);
        if (bytes) {
            memcpy(to + lane * bytes, from + cx->lane_of[lane] * bytes, bytes);
        } else {
            uint32_t predicate;
            memcpy(&predicate, from, sizeof predicate);
            bits |= (predicate >> cx->lane_of[lane] & 1) << lane;
        }
    }
    if (!bytes)
        memcpy(to, &bits, sizeof bits);
}

static void scatter(const struct exec_context *cx, struct exec_operand operand, uint32_t mask,
                    const unsigned char *from) {
    unsigned bytes = width_bytes[operand.width];
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), home = cx->lane_of[lane];
        unsigned char *to = lanes_of(cx->row_of[lane], operand);
        if (bytes) {
            memcpy(to + home * bytes, from + lane * bytes, bytes);
        } else {
            uint32_t bits, predicate;
            memcpy(&bits, from, sizeof bits);
            memcpy(&predicate, to, sizeof predicate);
            predicate = (predicate & ~(1u << home)) | (bits >> lane & 1) << home;
            memcpy(to, &predicate, sizeof predicate);
        }
    }
}

void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    struct exec_operands o = {.mask = mask, .imm = insn->imm};
    cx->row = NULL;
    cx->insn = insn;
    if (insn->flags & EXEC_FLAG_READS_CLOCK)
        for (uint32_t left = mask; left; left &= left - 1)
            refresh_clock(cx, cx->row_of[__builtin_ctz(left)]);
    for (unsigned i = 0; i < insn->n_src; i++) {
        o.src[i] = cx->scratch[EXEC_MAX_DST + i];
        gather(cx, insn->operand[insn->n_dst + i], mask, cx->scratch[EXEC_MAX_DST + i]);
    }
    for (unsigned i = 0; i < insn->n_dst; i++)
        o.dst[i] = cx->scratch[i];
    if (insn->kind == EXEC_KIND_LANES)
        run_lanes(insn, &o);
    else
        insn->act(cx, &o);
    if (cx->fault.kind != EXEC_FAULT_NONE)
        return;
    for (unsigned i = 0; i < insn->n_dst; i++)
        scatter(cx, insn->operand[i], mask, cx->scratch[i]);
}
