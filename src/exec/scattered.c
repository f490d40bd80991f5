/* Runs one instruction on threads from anywhere, through scratch lanes: operands are gathered from the threads' rows
 * and results scattered back. What computes lane by lane takes the threads one behind the other, as the pack has them
 * (dense); what has a context, like memory, takes each in its lane (placed). Scratch lanes without a thread keep what
 * they had: what is computed there goes nowhere. */
#include "exec/scattered.h"

#include "exec/run.h"

static uint32_t whole_steps(uint32_t n) { return (n + EXEC_PACK_STEP - 1) & ~(EXEC_PACK_STEP - 1u); }

static void pack_threads(const struct exec_threads *threads, uint32_t mask, struct exec_pack *pack) {
    uint32_t n = 0;
    for (uint32_t left = mask; left; left &= left - 1, n++) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        pack->registers[n] = threads->registers[lane];
        pack->from[n] = (uint8_t)lane;
        pack->home[n] = threads->lane[lane];
    }
    pack->mask = mask;
    pack->n = n;
    for (uint32_t end = whole_steps(n); n < end; n++) {
        pack->registers[n] = pack->registers[0];
        pack->from[n] = pack->from[0];
        pack->home[n] = pack->home[0];
    }
}

void exec_threads_pack(struct exec_threads *threads, uint32_t mask) {
    if (threads->pack.mask != mask)
        pack_threads(threads, mask, &threads->pack);
}

/* --- registers --- */

#define FOR_STEPS(i)                                                                                                   \
    for (uint32_t step = 0; step < pack->n; step += EXEC_PACK_STEP)                                                    \
        for (uint32_t i = step; i < step + EXEC_PACK_STEP; i++)
/* Where thread i has the register at `offset`: registers[i] counts in 32 bits. */
#define PLACE(bits, i) (pack->registers[i] + (ptrdiff_t)pack->home[i] * (bits / 8 - 4) + offset)
/* The scratch lane of thread i. */
#define DENSE(i) (i)
#define PLACED(i) (pack->from[i])

#define COPIES(name, bits, to)                                                                                         \
    static void gather_##name##_##bits(const struct exec_pack *pack, uint32_t offset, void *scratch) {                 \
        uint##bits##_t *lane = scratch;                                                                                \
        FOR_STEPS(i) lane[to(i)] = *(const uint##bits##_t *)PLACE(bits, i);                                            \
    }                                                                                                                  \
    static void scatter_##name##_##bits(const struct exec_pack *pack, uint32_t offset, const void *scratch) {          \
        const uint##bits##_t *lane = scratch;                                                                          \
        FOR_STEPS(i) * (uint##bits##_t *)PLACE(bits, i) = lane[to(i)];                                                 \
    }
/* A predicate is one word for all lanes of a row. */
#define PREDICATES(name, to)                                                                                           \
    static void gather_##name##_1(const struct exec_pack *pack, uint32_t offset, void *scratch) {                      \
        uint32_t bits = 0;                                                                                             \
        FOR_STEPS(i) bits |= (*(const uint32_t *)PLACE(0, i) >> pack->home[i] & 1) << to(i);                           \
        *(uint32_t *)scratch = bits;                                                                                   \
    }                                                                                                                  \
    static void scatter_##name##_1(const struct exec_pack *pack, uint32_t offset, const void *scratch) {               \
        uint32_t bits = *(const uint32_t *)scratch;                                                                    \
        for (uint32_t i = 0; i < pack->n; i++) {                                                                       \
            uint32_t *place = (uint32_t *)PLACE(0, i);                                                                 \
            *place = (*place & ~(1u << pack->home[i])) | (bits >> to(i) & 1) << pack->home[i];                         \
        }                                                                                                              \
    }
#define COPIES_OF_ALL_WIDTHS(name, to)                                                                                 \
    PREDICATES(name, to)                                                                                               \
    COPIES(name, 16, to)                                                                                               \
    COPIES(name, 32, to)                                                                                               \
    COPIES(name, 64, to)                                                                                               \
    static void gather_##name(const struct exec_pack *pack, struct exec_operand operand, void *scratch) {              \
        switch ((enum ptx_width)operand.width) {                                                                       \
        case PTX_WIDTH_PRED:                                                                                           \
            gather_##name##_1(pack, operand.offset, scratch);                                                          \
            break;                                                                                                     \
        case PTX_WIDTH_16:                                                                                             \
            gather_##name##_16(pack, operand.offset, scratch);                                                         \
            break;                                                                                                     \
        case PTX_WIDTH_32:                                                                                             \
            gather_##name##_32(pack, operand.offset, scratch);                                                         \
            break;                                                                                                     \
        default:                                                                                                       \
            gather_##name##_64(pack, operand.offset, scratch);                                                         \
            break;                                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void scatter_##name(const struct exec_pack *pack, struct exec_operand operand, const void *scratch) {       \
        switch ((enum ptx_width)operand.width) {                                                                       \
        case PTX_WIDTH_PRED:                                                                                           \
            scatter_##name##_1(pack, operand.offset, scratch);                                                         \
            break;                                                                                                     \
        case PTX_WIDTH_16:                                                                                             \
            scatter_##name##_16(pack, operand.offset, scratch);                                                        \
            break;                                                                                                     \
        case PTX_WIDTH_32:                                                                                             \
            scatter_##name##_32(pack, operand.offset, scratch);                                                        \
            break;                                                                                                     \
        default:                                                                                                       \
            scatter_##name##_64(pack, operand.offset, scratch);                                                        \
            break;                                                                                                     \
        }                                                                                                              \
    }
COPIES_OF_ALL_WIDTHS(dense, DENSE)
COPIES_OF_ALL_WIDTHS(placed, PLACED)

uint32_t exec_threads_guard(const struct exec_threads *threads, const struct exec_insn *insn, uint32_t mask) {
    if (!insn->guard.offset)
        return mask;
    struct exec_pack own;
    const struct exec_pack *pack = &threads->pack;
    if (pack->mask != mask) {
        pack_threads(threads, mask, &own);
        pack = &own;
    }
    uint32_t predicate;
    gather_placed_1(pack, insn->guard.offset, &predicate);
    return mask & (insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate);
}

/* --- other operands --- */

/* Of constants only the rows of %laneid and %lanemask_* have lanes that differ: the first from the last. */
static bool is_broadcast(struct exec_operand operand, const uint32_t *lanes) {
    return operand.width != PTX_WIDTH_32 || lanes[0] == lanes[EXEC_LANES - 1];
}

/* Where the lanes of an operand are that is no register: in place, when they are the same for all threads, else
 * gathered: those of a row, a block or the constants look like registers that begin elsewhere. */
static const void *other_lanes(const struct exec_context *cx, const struct exec_pack *pack, struct exec_operand operand,
                               bool is_dense, void *scratch) {
    const unsigned char *constant = cx->grid->program->constants + operand.offset;
    if (operand.base == EXEC_BASE_CONSTANTS && is_broadcast(operand, (const uint32_t *)constant))
        return constant;
    struct exec_pack other = *pack;
    for (uint32_t i = 0; i < whole_steps(pack->n); i++)
        other.registers[i] = cx->threads->row[pack->from[i]]->base[operand.base] + 4u * pack->home[i];
    (is_dense ? gather_dense : gather_placed)(&other, operand, scratch);
    return scratch;
}

/* --- instructions --- */

static void run_dense(struct exec_context *cx, const struct exec_insn *insn, const struct exec_pack *pack,
                      struct exec_operands *o) {
    for (unsigned i = 0; i < insn->n_src; i++) {
        struct exec_operand operand = insn->operand[insn->n_dst + i];
        void *scratch = cx->scratch[EXEC_MAX_DST + i];
        o->src[i] = scratch;
        if (operand.base == EXEC_BASE_REGISTERS)
            gather_dense(pack, operand, scratch);
        else
            o->src[i] = other_lanes(cx, pack, operand, true, scratch);
    }
    exec_run_lanes(insn, o);
    for (unsigned i = 0; i < insn->n_dst; i++)
        scatter_dense(pack, insn->operand[i], cx->scratch[i]);
}

static void act_placed(struct exec_context *cx, const struct exec_insn *insn, const struct exec_pack *pack,
                       struct exec_operands *o) {
    for (unsigned i = 0; i < insn->n_src; i++) {
        struct exec_operand operand = insn->operand[insn->n_dst + i];
        void *scratch = cx->scratch[EXEC_MAX_DST + i];
        o->src[i] = scratch;
        if (operand.base == EXEC_BASE_REGISTERS)
            gather_placed(pack, operand, scratch);
        else
            o->src[i] = other_lanes(cx, pack, operand, false, scratch);
    }
    insn->act(cx, o);
    for (unsigned i = 0; i < insn->n_dst && cx->fault.kind == EXEC_FAULT_NONE; i++)
        scatter_placed(pack, insn->operand[i], cx->scratch[i]);
}

void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    struct exec_operands o;
    struct exec_pack own;
    const struct exec_pack *pack = &cx->threads->pack;
    o.mask = mask;
    o.imm = insn->imm;
    for (unsigned i = 0; i < EXEC_MAX_DST; i++)
        o.dst[i] = cx->scratch[i];
    cx->row = NULL;
    cx->insn = insn;
    if (pack->mask != mask) {
        pack_threads(cx->threads, mask, &own);
        pack = &own;
    }
    for (uint32_t i = 0; insn->flags & EXEC_FLAG_READS_CLOCK && i < pack->n; i++)
        exec_refresh_clock(cx, cx->threads->row[pack->from[i]]);
    if (insn->kind == EXEC_KIND_LANES)
        run_dense(cx, insn, pack, &o);
    else
        act_placed(cx, insn, pack, &o);
}
