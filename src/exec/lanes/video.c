/* Video instructions: vadd vsub vabsdiff vmin vmax vshl vshr vmad vset, and the packed ones on two halves or four
 * bytes.
 *
 * From the PTX ISA manual, "Video Instructions". Selectors, signs, saturation and the secondary operation are the same
 * for all lanes and come in imm (exec/lanes/imm.h), so there is one function per operation. Recent GPUs lack the scalar
 * instructions, and the compiler expands them. Where its expansion departs from the manual, this file follows the
 * expansion, as recorded on an H200 with driver 580 (tests/conformance):
 * - Sums and differences have 32 bits if a secondary operation follows.
 * - An unsigned minimum or maximum with c treats all 64 bits of the result as unsigned.
 * - .sat to 32 unsigned bits clamps only at 0; to a part it treats the result as unsigned and clamps at the part's
 *   largest value. Shifts saturate a 34-bit result to 32 bits, and drop bits to fit a part.
 * - A merge into .h1 takes the upper half of the result.
 * - vmad treats whole words as signed, whatever their type. With .sat, a scaled unsigned result has no negative
 *   case. */
#include "exec/lanes/lanes.h"

#include <stdbool.h>
#include <stddef.h>

#include "exec/lanes/imm.h"

/* Wide enough for unsigned 64-bit values. */
static inline __int128 clamped(__int128 x, __int128 low, __int128 high) { return x < low ? low : x > high ? high : x; }

/* The range of `bits` bits. */
static inline int64_t highest(unsigned bits, bool is_signed) { return (int64_t)((1ull << (bits - is_signed)) - 1); }
static inline int64_t lowest(unsigned bits, bool is_signed) { return is_signed ? -highest(bits, true) - 1 : 0; }

/* The `bits` bits of x at `shift`, with their sign or without. */
static inline int64_t field(uint64_t x, unsigned shift, unsigned bits, bool is_signed) {
    uint64_t top = x << (64 - shift - bits);
    return is_signed ? (int64_t)top >> (64 - bits) : (int64_t)(top >> (64 - bits));
}

static inline bool holds(unsigned relation, int64_t a, int64_t b) {
    return relation & (a < b ? EXEC_LESS : a == b ? EXEC_EQUAL : EXEC_GREATER);
}

/* --- scalar --- */

struct part {
    unsigned shift, bits;
};

static struct part part_of(uint32_t selector) {
    switch (selector & 7) {
    case 0:
        return (struct part){0, 32};
    case 5:
    case 6:
        return (struct part){(selector - 5) % 2 * 16, 16};
    default:
        return (struct part){(selector - 1) % 4 * 8, 8};
    }
}

/* .sat of everything but shifts. */
static inline int64_t saturated(int64_t result, uint32_t imm) {
    unsigned bits = part_of(imm >> EXEC_VIDEO_D_SHIFT & 7).bits;
    bool is_signed = imm & EXEC_VIDEO_D_SIGNED;
    if (!(imm & EXEC_VIDEO_SATURATES))
        return result;
    if (bits < 32)
        return (uint64_t)result < (uint64_t)highest(bits, is_signed) ? result : highest(bits, is_signed);
    return is_signed ? (int64_t)clamped(result, lowest(32, true), highest(32, true)) : result < 0 ? 0 : result;
}

static inline int64_t saturated_shift(int64_t result, uint32_t imm) {
    bool is_signed = imm & EXEC_VIDEO_D_SIGNED;
    if (!(imm & EXEC_VIDEO_SATURATES))
        return result;
    int64_t narrow = field((uint64_t)result, 0, 34, true);
    return (int32_t)clamped(narrow, lowest(32, is_signed), highest(32, is_signed));
}

/* Merges the result into c, or performs the secondary operation with c. */
static inline uint32_t finish(int64_t result, uint32_t c, uint32_t imm) {
    enum { UPPER_HALF = 6 };
    unsigned selector = imm >> EXEC_VIDEO_D_SHIFT & 7;
    if (selector) {
        struct part part = part_of(selector);
        uint32_t mask = (uint32_t)highest(part.bits, false) << part.shift;
        uint32_t moved = selector == UPPER_HALF ? (uint32_t)result : (uint32_t)result << part.shift;
        return (c & ~mask) | (moved & mask);
    }
    bool is_larger = imm & EXEC_VIDEO_D_SIGNED ? result > (int32_t)c : (uint64_t)result > c;
    switch ((enum exec_video_second)(imm >> EXEC_VIDEO_SECOND_SHIFT & 3)) {
    case EXEC_VIDEO_ADD:
        return (uint32_t)result + c;
    case EXEC_VIDEO_MIN:
        return is_larger ? c : (uint32_t)result;
    case EXEC_VIDEO_MAX:
        return is_larger ? (uint32_t)result : c;
    default:
        return (uint32_t)result;
    }
}

/* a, b: the selected parts. */
#define SCALAR(name, result)                                                                                           \
    static void name(const struct exec_operands *o) {                                                                  \
        const uint32_t imm = o->imm, *pa = o->src[0], *pb = o->src[1];                                                 \
        const bool has_c = imm >> EXEC_VIDEO_D_SHIFT & 7 || imm >> EXEC_VIDEO_SECOND_SHIFT & 3;                        \
        const uint32_t *pc = has_c ? o->src[2] : pa;                                                                   \
        const struct part part_a = part_of(imm >> EXEC_VIDEO_A_SHIFT & 7),                                             \
                          part_b = part_of(imm >> EXEC_VIDEO_B_SHIFT & 7);                                             \
        uint32_t *d = o->dst[0];                                                                                       \
        for (int i = 0; i < EXEC_LANES; i++) {                                                                         \
            const int64_t a = field(pa[i], part_a.shift, part_a.bits, imm & EXEC_VIDEO_A_SIGNED);                      \
            const int64_t b = field(pb[i], part_b.shift, part_b.bits, imm & EXEC_VIDEO_B_SIGNED);                      \
            const uint32_t c = pc[i];                                                                                  \
            d[i] = finish(result, c, imm);                                                                             \
        }                                                                                                              \
    }
#define AMOUNT (unsigned)(imm & EXEC_VIDEO_WRAPS ? b & 31 : b > 32 ? 32 : b)
SCALAR(vadd, (int32_t)saturated(a + b, imm))
SCALAR(vsub, (int32_t)saturated(a - b, imm))
SCALAR(vabsdiff, saturated(a < b ? b - a : a - b, imm))
SCALAR(vmin, saturated(a < b ? a : b, imm))
SCALAR(vmax, saturated(a > b ? a : b, imm))
SCALAR(vshl, saturated_shift((int64_t)((uint64_t)a << AMOUNT), imm))
SCALAR(vshr, saturated_shift(a >> AMOUNT, imm))
SCALAR(vset, holds(imm >> EXEC_VIDEO_RELATION_SHIFT & 7, a, b))

/* Returns a * b + c with its negations, plus one, scaling, and saturation to the type that follows from the operands.
 */
static inline uint32_t multiply_add(int64_t a, int64_t b, uint32_t word, uint32_t imm) {
    bool is_signed =
        imm & (EXEC_VIDEO_A_SIGNED | EXEC_VIDEO_B_SIGNED | EXEC_VIDEO_NEGATES_PRODUCT | EXEC_VIDEO_NEGATES_C);
    unsigned scale = imm >> EXEC_VIDEO_SCALE_SHIFT & 15;
    int64_t product = a * b, sum = imm & EXEC_VIDEO_NEGATES_PRODUCT ? ~product : product;
    sum += (int32_t)(imm & EXEC_VIDEO_NEGATES_C ? ~word : word);
    if (imm & (EXEC_VIDEO_NEGATES_PRODUCT | EXEC_VIDEO_NEGATES_C | EXEC_VIDEO_PLUS_ONE))
        sum++;
    if (!(imm & EXEC_VIDEO_SATURATES))
        return (uint32_t)(sum >> scale);
    if (is_signed || scale == 0)
        return (uint32_t)clamped(sum >> scale, lowest(32, is_signed), highest(32, is_signed));
    return (uint32_t)clamped((uint64_t)sum >> scale, 0, highest(32, false));
}

static void vmad(const struct exec_operands *o) {
    const uint32_t imm = o->imm, *pa = o->src[0], *pb = o->src[1], *pc = o->src[2];
    const struct part part_a = part_of(imm >> EXEC_VIDEO_A_SHIFT & 7), part_b = part_of(imm >> EXEC_VIDEO_B_SHIFT & 7);
    const bool is_a_signed = part_a.bits == 32 || imm & EXEC_VIDEO_A_SIGNED,
               is_b_signed = part_b.bits == 32 || imm & EXEC_VIDEO_B_SIGNED;
    uint32_t *d = o->dst[0];
    for (int i = 0; i < EXEC_LANES; i++) {
        const int64_t a = field(pa[i], part_a.shift, part_a.bits, is_a_signed);
        const int64_t b = field(pb[i], part_b.shift, part_b.bits, is_b_signed);
        d[i] = multiply_add(a, b, pc[i], imm);
    }
}

/* --- packed --- */

/* Rounds the half away from zero for sums that are not negative, down for negative ones. */
static inline int64_t average(int64_t a, int64_t b) { return (a + b + (a + b >= 0)) >> 1; }

static inline bool passes(unsigned test, int64_t a, int64_t b) {
    static const uint8_t relation[] = {EXEC_EQUAL, EXEC_LESS | EXEC_GREATER, EXEC_LESS, EXEC_LESS | EXEC_EQUAL};
    return holds(relation[test], a, b);
}

/* One element of n, each 32 / n bits; a, b: the elements selected from the bytes or halves of {b, a}. */
#define PACKED_LOOP(n, start, expression, put)                                                                         \
    const uint32_t imm = o->imm, *pa = o->src[0], *pb = o->src[1], *pc = o->src[2];                                    \
    uint32_t *d = o->dst[0];                                                                                           \
    for (int i = 0; i < EXEC_LANES; i++) {                                                                             \
        const uint64_t both = (uint64_t)pb[i] << 32 | pa[i];                                                           \
        const uint32_t c = pc[i];                                                                                      \
        uint32_t result = start;                                                                                       \
        for (unsigned k = 0; k < n; k++) {                                                                             \
            const unsigned bits = 32 / n, from_a = imm >> (EXEC_PACKED_A_SHIFT + 3 * k) & (2 * n - 1),                 \
                           from_b = imm >> (EXEC_PACKED_B_SHIFT + 3 * k) & (2 * n - 1);                                \
            const int64_t a = field(both, from_a * bits, bits, imm & EXEC_PACKED_A_SIGNED);                            \
            const int64_t b = field(both, from_b * bits, bits, imm & EXEC_PACKED_B_SIGNED);                            \
            const bool is_masked = !(imm >> (EXEC_PACKED_MASK_SHIFT + k) & 1);                                         \
            __int128 t = expression;                                                                                   \
            put;                                                                                                       \
        }                                                                                                              \
        d[i] = result;                                                                                                 \
    }
#define SATURATE                                                                                                       \
    if (imm & EXEC_PACKED_SATURATES)                                                                                   \
    t = clamped(t, lowest(bits, imm & EXEC_PACKED_D_SIGNED), highest(bits, imm & EXEC_PACKED_D_SIGNED))
#define MERGE result |= (uint32_t)field(is_masked ? c >> k * bits : (uint64_t)t, 0, bits, false) << k * bits
#define ACCUMULATE result += is_masked ? 0 : (uint32_t)t

#define PACKED(name, expression)                                                                                       \
    static void name##2(const struct exec_operands *o) { PACKED_LOOP(2u, 0, expression, SATURATE; MERGE) }             \
    static void name##4(const struct exec_operands *o) { PACKED_LOOP(4u, 0, expression, SATURATE; MERGE) }             \
    static void name##2_add(const struct exec_operands *o) { PACKED_LOOP(2u, c, expression, ACCUMULATE) }              \
    static void name##4_add(const struct exec_operands *o) { PACKED_LOOP(4u, c, expression, ACCUMULATE) }
PACKED(vadd, a + b)
PACKED(vsub, a - b)
PACKED(vavrg, average(a, b))
PACKED(vabsdiff, a < b ? b - a : a - b)
PACKED(vmin, a < b ? a : b)
PACKED(vmax, a > b ? a : b)

/* vset's test is in the bits that the others use for saturation. */
#define TEST passes(imm >> EXEC_PACKED_TEST_SHIFT & 3, a, b)
static void vset2(const struct exec_operands *o) { PACKED_LOOP(2u, 0, TEST, MERGE) }
static void vset4(const struct exec_operands *o) { PACKED_LOOP(4u, 0, TEST, MERGE) }
static void vset2_add(const struct exec_operands *o) { PACKED_LOOP(2u, c, TEST, ACCUMULATE) }
static void vset4_add(const struct exec_operands *o) { PACKED_LOOP(4u, c, TEST, ACCUMULATE) }

/* --- selection --- */

static bool has_other_than_32(const struct ptx_instruction *insn, unsigned n_types) {
    bool is_other = insn->n_types != n_types;
    for (unsigned k = 0; k < insn->n_types; k++)
        is_other = is_other || (insn->type[k] != PTX_U32 && insn->type[k] != PTX_S32);
    return is_other;
}

static exec_lanes_fn *select_scalar(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_VADD:
        return vadd;
    case PTX_OP_VSUB:
        return vsub;
    case PTX_OP_VABSDIFF:
        return vabsdiff;
    case PTX_OP_VMIN:
        return vmin;
    case PTX_OP_VMAX:
        return vmax;
    case PTX_OP_VSHL:
        return vshl;
    case PTX_OP_VSHR:
        return vshr;
    case PTX_OP_VMAD:
        return vmad;
    case PTX_OP_VSET:
        return vset;
    default:
        return NULL;
    }
}

static exec_lanes_fn *select_packed(enum ptx_opcode opcode, bool adds) {
    switch (opcode) {
#define CASE(id, name)                                                                                                 \
    case PTX_OP_##id##2:                                                                                               \
        return adds ? name##2_add : name##2;                                                                           \
    case PTX_OP_##id##4:                                                                                               \
        return adds ? name##4_add : name##4;
        CASE(VADD, vadd)
        CASE(VSUB, vsub)
        CASE(VAVRG, vavrg)
        CASE(VABSDIFF, vabsdiff)
        CASE(VMIN, vmin)
        CASE(VMAX, vmax)
        CASE(VSET, vset)
    default:
        return NULL;
    }
}

exec_lanes_fn *EXEC_NAME(exec_select_video)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (ptx_opcode_family(insn->opcode) != PTX_FAMILY_VIDEO)
        return NULL;
    bool is_vset = insn->opcode == PTX_OP_VSET || insn->opcode == PTX_OP_VSET2 || insn->opcode == PTX_OP_VSET4;
    exec_lanes_fn *scalar = select_scalar(insn->opcode);
    bool needs_c = scalar == NULL || scalar == vmad || insn->operand[0].selector || ptx_has(insn, PTX_MOD_ADD) ||
                   ptx_has(insn, PTX_MOD_MIN) || ptx_has(insn, PTX_MOD_MAX);
    if (has_other_than_32(insn, is_vset ? 2 : 3) || form->n_src != (needs_c ? 3 : 2) || form->dst_bits[0] != 32)
        return NULL;
    for (unsigned k = 0; k < form->n_src; k++)
        if (form->src_bits[k] != 32)
            return NULL;
    if (scalar)
        return scalar;
    bool adds = ptx_has(insn, PTX_MOD_ADD);
    return adds && ptx_has(insn, PTX_MOD_SAT) ? NULL : select_packed(insn->opcode, adds);
}
