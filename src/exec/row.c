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

/* Threads from anywhere, one behind the other: thread t is lane home[t] of a row whose lanes (registers, or what an
 * operand's base is) begin at base[t], and takes lane to[t] of the scratch lanes. Other scratch lanes keep what they
 * had: what is computed there goes nowhere. */
struct scattered {
    unsigned char *base[EXEC_LANES];
    const uint8_t *home, *to; /* those below, or, when every lane has a thread, what needs no copy */
    uint8_t some_home[EXEC_LANES], some_to[EXEC_LANES];
    unsigned n;
};

static const uint8_t own_lane[EXEC_LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static void place_threads(const struct exec_context *cx, uint32_t mask, enum exec_base base, struct scattered *at) {
    if (mask == ~0u) {
        for (unsigned lane = 0; lane < EXEC_LANES; lane++)
            at->base[lane] = cx->row_of[lane]->base[base];
        at->home = cx->lane_of;
        at->to = own_lane;
        at->n = EXEC_LANES;
        return;
    }
    unsigned n = 0;
    for (uint32_t left = mask; left; left &= left - 1, n++) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        at->base[n] = cx->row_of[lane]->base[base];
        at->some_home[n] = cx->lane_of[lane];
        at->some_to[n] = (uint8_t)lane;
    }
    at->home = at->some_home;
    at->to = at->some_to;
    at->n = n;
}

#define GATHER(bits)                                                                                                   \
    static void gather_##bits(const struct scattered *at, uint32_t offset, void *lanes) {                              \
        for (unsigned t = 0; t < at->n; t++)                                                                           \
            ((uint##bits##_t *)lanes)[at->to[t]] = ((const uint##bits##_t *)(at->base[t] + offset))[at->home[t]];      \
    }                                                                                                                  \
    static void scatter_##bits(const struct scattered *at, uint32_t offset, const void *lanes) {                       \
        for (unsigned t = 0; t < at->n; t++)                                                                           \
            ((uint##bits##_t *)(at->base[t] + offset))[at->home[t]] = ((const uint##bits##_t *)lanes)[at->to[t]];      \
    }
GATHER(16)
GATHER(32)
GATHER(64)

static void gather_predicate(const struct scattered *at, uint32_t offset, uint32_t *lanes) {
    uint32_t bits = 0;
    for (unsigned t = 0; t < at->n; t++)
        bits |= (*(const uint32_t *)(at->base[t] + offset) >> at->home[t] & 1) << at->to[t];
    *lanes = bits;
}

static void scatter_predicate(const struct scattered *at, uint32_t offset, uint32_t bits) {
    for (unsigned t = 0; t < at->n; t++) {
        uint32_t *place = (uint32_t *)(at->base[t] + offset), bit = 1u << at->home[t];
        *place = bits >> at->to[t] & 1 ? *place | bit : *place & ~bit;
    }
}

static void gather(const struct scattered *at, struct exec_operand operand, void *lanes) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        gather_predicate(at, operand.offset, lanes);
        break;
    case PTX_WIDTH_16:
        gather_16(at, operand.offset, lanes);
        break;
    case PTX_WIDTH_32:
        gather_32(at, operand.offset, lanes);
        break;
    default:
        gather_64(at, operand.offset, lanes);
        break;
    }
}

static void scatter(const struct scattered *at, struct exec_operand operand, const void *lanes) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        scatter_predicate(at, operand.offset, *(const uint32_t *)lanes);
        break;
    case PTX_WIDTH_16:
        scatter_16(at, operand.offset, lanes);
        break;
    case PTX_WIDTH_32:
        scatter_32(at, operand.offset, lanes);
        break;
    default:
        scatter_64(at, operand.offset, lanes);
        break;
    }
}

/* Of constants only the rows of %laneid and %lanemask_* have lanes that differ: the first from the last. */
static bool is_broadcast(struct exec_operand operand, const uint32_t *lanes) {
    return operand.base == EXEC_BASE_CONSTANTS && (operand.width != PTX_WIDTH_32 || lanes[0] == lanes[EXEC_LANES - 1]);
}

/* Where the operand's lanes are: gathered into `scratch`, but for immediates, which are the same for all threads. */
static void *source_lanes(const struct exec_context *cx, const struct scattered *registers, uint32_t mask,
                          struct exec_operand operand, void *scratch) {
    if (operand.base == EXEC_BASE_REGISTERS) {
        gather(registers, operand, scratch);
        return scratch;
    }
    void *first = lanes_of(cx->row_of[__builtin_ctz(mask)], operand);
    if (is_broadcast(operand, first))
        return first;
    struct scattered at;
    place_threads(cx, mask, (enum exec_base)operand.base, &at);
    gather(&at, operand, scratch);
    return scratch;
}

void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    struct exec_operands o;
    struct scattered registers;
    o.mask = mask;
    o.imm = insn->imm;
    cx->row = NULL;
    cx->insn = insn;
    if (insn->flags & EXEC_FLAG_READS_CLOCK)
        for (uint32_t left = mask; left; left &= left - 1)
            refresh_clock(cx, cx->row_of[__builtin_ctz(left)]);
    place_threads(cx, mask, EXEC_BASE_REGISTERS, &registers);
    for (unsigned i = 0; i < insn->n_src; i++)
        o.src[i] = source_lanes(cx, &registers, mask, insn->operand[insn->n_dst + i], cx->scratch[EXEC_MAX_DST + i]);
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
