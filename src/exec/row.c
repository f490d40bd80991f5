/* Runs one instruction: on a row in place, or on threads from anywhere through scratch lanes. One semantics, two ways
 * in. */
#include <fenv.h>
#include <string.h>

#include "exec/exec.h"

static const unsigned width_bits[PTX_N_WIDTHS] = {1, 16, 32, 64};

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

/* Lane l of the bundle is lane home[l] of the row whose registers begin at base[l]. For lanes without a
 * thread another one stands in, so that loops run over all lanes and the compiler needs no masks; what they compute
 * goes nowhere. */
struct scattered {
    unsigned char *base[EXEC_LANES];
    uint8_t home[EXEC_LANES];
    uint32_t mask;
};

static void place_lanes(const struct exec_context *cx, uint32_t mask, enum exec_base base, struct scattered *at) {
    unsigned first = (unsigned)__builtin_ctz(mask);
    at->mask = mask;
    for (unsigned lane = 0; lane < EXEC_LANES; lane++) {
        unsigned who = mask >> lane & 1 ? lane : first;
        at->base[lane] = cx->row_of[who]->base[base];
        at->home[lane] = cx->lane_of[who];
    }
}

#define GATHER(bits)                                                                                                   \
    static void gather_##bits(const struct scattered *at, uint32_t offset, void *to) {                                 \
        for (unsigned lane = 0; lane < EXEC_LANES; lane++)                                                             \
            ((uint##bits##_t *)to)[lane] = ((const uint##bits##_t *)(at->base[lane] + offset))[at->home[lane]];        \
    }                                                                                                                  \
    static void scatter_##bits(const struct scattered *at, uint32_t offset, const void *from) {                        \
        for (uint32_t left = at->mask; left; left &= left - 1) {                                                       \
            unsigned lane = (unsigned)__builtin_ctz(left);                                                             \
            ((uint##bits##_t *)(at->base[lane] + offset))[at->home[lane]] = ((const uint##bits##_t *)from)[lane];      \
        }                                                                                                              \
    }
GATHER(16)
GATHER(32)
GATHER(64)

static void gather_predicate(const struct scattered *at, uint32_t offset, uint32_t *to) {
    uint32_t bits = 0;
    for (unsigned lane = 0; lane < EXEC_LANES; lane++)
        bits |= (*(const uint32_t *)(at->base[lane] + offset) >> at->home[lane] & 1) << lane;
    *to = bits;
}

static void scatter_predicate(const struct scattered *at, uint32_t offset, uint32_t bits) {
    for (uint32_t left = at->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), home = at->home[lane];
        uint32_t *place = (uint32_t *)(at->base[lane] + offset);
        *place = (*place & ~(1u << home)) | (bits >> lane & 1) << home;
    }
}

static void gather(const struct scattered *at, struct exec_operand operand, void *to) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        gather_predicate(at, operand.offset, to);
        break;
    case PTX_WIDTH_16:
        gather_16(at, operand.offset, to);
        break;
    case PTX_WIDTH_32:
        gather_32(at, operand.offset, to);
        break;
    default:
        gather_64(at, operand.offset, to);
        break;
    }
}

static void scatter(const struct scattered *at, struct exec_operand operand, const void *from) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        scatter_predicate(at, operand.offset, *(const uint32_t *)from);
        break;
    case PTX_WIDTH_16:
        scatter_16(at, operand.offset, from);
        break;
    case PTX_WIDTH_32:
        scatter_32(at, operand.offset, from);
        break;
    default:
        scatter_64(at, operand.offset, from);
        break;
    }
}

static void gather_source(const struct exec_context *cx, const struct scattered *registers, struct exec_operand operand,
                          void *to) {
    struct scattered at;
    if (operand.base != EXEC_BASE_REGISTERS) {
        place_lanes(cx, registers->mask, (enum exec_base)operand.base, &at);
        registers = &at;
    }
    gather(registers, operand, to);
}

void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    struct exec_operands o = {.mask = mask, .imm = insn->imm};
    struct scattered registers;
    cx->row = NULL;
    cx->insn = insn;
    if (insn->flags & EXEC_FLAG_READS_CLOCK)
        for (uint32_t left = mask; left; left &= left - 1)
            refresh_clock(cx, cx->row_of[__builtin_ctz(left)]);
    place_lanes(cx, mask, EXEC_BASE_REGISTERS, &registers);
    for (unsigned i = 0; i < insn->n_src; i++) {
        o.src[i] = cx->scratch[EXEC_MAX_DST + i];
        gather_source(cx, &registers, insn->operand[insn->n_dst + i], cx->scratch[EXEC_MAX_DST + i]);
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
        scatter(&registers, insn->operand[i], cx->scratch[i]);
}
