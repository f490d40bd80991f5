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
        pack->registers[n] = threads->row[lane]->base[EXEC_BASE_REGISTERS] + 4u * threads->lane[lane];
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

/* The pack that is at hand, or one made in *own. */
static const struct exec_pack *pack_of(const struct exec_threads *threads, uint32_t mask, struct exec_pack *own) {
    if (threads->packed == mask)
        return &threads->pack;
    pack_threads(threads, mask, own);
    return own;
}

void exec_threads_pack(struct exec_threads *threads, uint32_t mask) {
    if (threads->packed == mask)
        return;
    pack_threads(threads, mask, &threads->pack);
    threads->packed = mask;
}

/* --- registers ---
 *
 * is_dense is known where these are called: each becomes two loops. */

#define INLINE static inline __attribute__((always_inline))

/* The scratch lane of thread i. */
INLINE uint32_t lane_of(const struct exec_pack *pack, uint32_t i, bool is_dense) {
    return is_dense ? i : pack->from[i];
}

/* Where thread i has the register at `offset`, of so many bytes a lane: registers[i] counts in 4. */
INLINE unsigned char *place_of(const struct exec_pack *pack, uint32_t i, uint32_t offset, int lane_bytes) {
    return pack->registers[i] + (ptrdiff_t)pack->home[i] * (lane_bytes - 4) + offset;
}

#define FOR_STEPS(i)                                                                                                   \
    for (uint32_t step = 0; step < pack->n; step += EXEC_PACK_STEP)                                                    \
        for (uint32_t i = step; i < step + EXEC_PACK_STEP; i++)

#define COPIES(bits)                                                                                                   \
    INLINE void gather_##bits(const struct exec_pack *pack, bool is_dense, uint32_t offset, uint##bits##_t *lane) {    \
        FOR_STEPS(i)                                                                                                   \
        lane[lane_of(pack, i, is_dense)] = *(const uint##bits##_t *)place_of(pack, i, offset, bits / 8);               \
    }                                                                                                                  \
    INLINE void scatter_##bits(const struct exec_pack *pack, bool is_dense, uint32_t offset,                           \
                               const uint##bits##_t *lane) {                                                           \
        FOR_STEPS(i)                                                                                                   \
        *(uint##bits##_t *)place_of(pack, i, offset, bits / 8) = lane[lane_of(pack, i, is_dense)];                     \
    }
COPIES(16)
COPIES(32)
COPIES(64)

/* A predicate is one word for all lanes of a row. */
INLINE uint32_t gather_predicate(const struct exec_pack *pack, bool is_dense, uint32_t offset) {
    uint32_t bits = 0;
    FOR_STEPS(i)
    bits |= (*(const uint32_t *)place_of(pack, i, offset, 0) >> pack->home[i] & 1) << lane_of(pack, i, is_dense);
    return bits;
}

INLINE void scatter_predicate(const struct exec_pack *pack, bool is_dense, uint32_t offset, uint32_t bits) {
    for (uint32_t i = 0; i < pack->n; i++) {
        uint32_t *place = (uint32_t *)place_of(pack, i, offset, 0), bit = bits >> lane_of(pack, i, is_dense) & 1;
        *place = (*place & ~(1u << pack->home[i])) | bit << pack->home[i];
    }
}

INLINE void gather(const struct exec_pack *pack, bool is_dense, struct exec_operand operand, void *scratch) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        *(uint32_t *)scratch = gather_predicate(pack, is_dense, operand.offset);
        break;
    case PTX_WIDTH_16:
        gather_16(pack, is_dense, operand.offset, scratch);
        break;
    case PTX_WIDTH_32:
        gather_32(pack, is_dense, operand.offset, scratch);
        break;
    default:
        gather_64(pack, is_dense, operand.offset, scratch);
        break;
    }
}

INLINE void scatter(const struct exec_pack *pack, bool is_dense, struct exec_operand operand, const void *scratch) {
    switch ((enum ptx_width)operand.width) {
    case PTX_WIDTH_PRED:
        scatter_predicate(pack, is_dense, operand.offset, *(const uint32_t *)scratch);
        break;
    case PTX_WIDTH_16:
        scatter_16(pack, is_dense, operand.offset, scratch);
        break;
    case PTX_WIDTH_32:
        scatter_32(pack, is_dense, operand.offset, scratch);
        break;
    default:
        scatter_64(pack, is_dense, operand.offset, scratch);
        break;
    }
}

uint32_t exec_threads_guard(const struct exec_threads *threads, const struct exec_insn *insn, uint32_t mask) {
    if (!insn->guard.offset)
        return mask;
    struct exec_pack own;
    uint32_t predicate = threads->registers ? *(const uint32_t *)(threads->registers + insn->guard.offset)
                                            : gather_predicate(pack_of(threads, mask, &own), false, insn->guard.offset);
    return mask & (insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate);
}

/* --- instructions --- */

/* Gathers an operand that is no register: those of a row, a block or the constants look like registers that begin
 * elsewhere. */
static void gather_other(const struct exec_context *cx, const struct exec_pack *pack, bool is_dense,
                         struct exec_operand operand, void *scratch) {
    struct exec_pack other = *pack;
    for (uint32_t i = 0; i < whole_steps(pack->n); i++)
        other.registers[i] = cx->threads->row[pack->from[i]]->base[operand.base] + 4u * pack->home[i];
    gather(&other, is_dense, operand, scratch);
}

/* Where the operand's lanes are: gathered, unless they are the same for all threads. */
INLINE const void *source_lanes(const struct exec_context *cx, const struct exec_pack *pack, bool is_dense,
                                struct exec_operand operand, void *scratch) {
    const unsigned char *constant = cx->grid->program->constants + operand.offset;
    if (operand.base == EXEC_BASE_REGISTERS)
        gather(pack, is_dense, operand, scratch);
    else if (exec_is_broadcast(operand, (const uint32_t *)constant))
        return constant;
    else
        gather_other(cx, pack, is_dense, operand, scratch);
    return scratch;
}

INLINE void run(struct exec_context *cx, const struct exec_insn *insn, const struct exec_pack *pack, bool is_dense) {
    struct exec_operands o;
    o.mask = pack->mask;
    o.imm = insn->imm;
    for (unsigned i = 0; i < insn->n_src; i++)
        o.src[i] = source_lanes(cx, pack, is_dense, insn->operand[insn->n_dst + i], cx->scratch[EXEC_MAX_DST + i]);
    for (unsigned i = 0; i < insn->n_dst; i++)
        o.dst[i] = cx->scratch[i];
    if (is_dense)
        exec_run_lanes(insn, &o);
    else
        insn->act(cx, &o);
    for (unsigned i = 0; i < insn->n_dst && cx->fault.kind == EXEC_FAULT_NONE; i++)
        scatter(pack, is_dense, insn->operand[i], cx->scratch[i]);
}

void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    if (cx->threads->registers) {
        exec_carried_insn(cx, insn, mask);
        return;
    }
    struct exec_pack own;
    const struct exec_pack *pack = pack_of(cx->threads, mask, &own);
    cx->row = NULL;
    cx->insn = insn;
    for (uint32_t i = 0; insn->flags & EXEC_FLAG_READS_CLOCK && i < pack->n; i++)
        exec_refresh_clock(cx, cx->threads->row[pack->from[i]]);
    if (insn->kind == EXEC_KIND_LANES)
        run(cx, insn, pack, true);
    else
        run(cx, insn, pack, false);
}
