/* f16, f16x2, bf16 and bf16x2 arithmetic: add sub mul fma abs neg min max.
 *
 * Sums and products are computed in f32, which has more than twice the digits of either format, so a second rounding to
 * the format yields the correctly rounded result. A fused multiply-add needs more: its product is exact in f64, and its
 * sum is rounded to odd there before the last rounding. A packed register is two neighbouring halves: the same loop
 * over 64 elements. Every form rounds to nearest even. Only f16 has .ftz. Sources as in float.h. fma.oob returns 0 if a
 * or b is the NaN that a tensor map fills in outside its bounds: 7ff7 or fff7, found on an H200. */
#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

enum half_kind { KIND_F16, KIND_BF16 };
enum { HALF_FTZ = 1, HALF_SAT = 2, HALF_RELU = 4, HALF_OOB = 8 };
enum { OUT_OF_BOUNDS = 0x7ff7 };
enum { EXTREME_FTZ = 1, EXTREME_NAN = 2, EXTREME_XORSIGN_ABS = 4 };
enum half_operation { HALF_ADD, HALF_SUB, HALF_MUL };

LANES_INLINE float widen(uint16_t half, enum half_kind kind) {
    return kind == KIND_F16 ? f16_widen(half) : bf16_widen(half);
}
LANES_INLINE uint16_t pack(float x, enum half_kind kind) { return kind == KIND_F16 ? f16_pack(x) : bf16_pack(x); }

LANES_INLINE float flush_f16(float x) { return f32_choose(f32_abs(x) < 0x1p-14f, f32_from(f32_bits(x) & F32_SIGN), x); }

LANES_INLINE float load(uint16_t half, enum half_kind kind, bool ftz) {
    float x = widen(half, kind);
    return ftz ? flush_f16(x) : x;
}

/* Results that reach the smallest normal f16 only by subnormal rounding are flushed: all below 2^-14 - 2^-26. */
#define F16_FLUSH_BELOW 0x1.ffep-15

LANES_INLINE float finish(float rounded, unsigned flags) {
    if (flags & HALF_SAT)
        rounded = f32_saturate(rounded);
    if (flags & HALF_RELU)
        rounded = f32_choose((rounded > 0) | (rounded != rounded), rounded, 0);
    return rounded;
}

LANES_INLINE void binary(const struct exec_operands *o, enum half_operation op, enum half_kind kind, int n,
                         unsigned flags) {
    uint16_t *d = o->dst[0];
    const uint16_t *a = o->src[0], *b = o->src[1];
    EXEC_FOR_ELEMENTS(n) {
        float x = load(a[i], kind, flags & HALF_FTZ), y = load(b[i], kind, flags & HALF_FTZ);
        float wide = op == HALF_ADD ? x + y : op == HALF_SUB ? x - y : x * y;
        float rounded = kind == KIND_F16 ? f16_round_nearest(wide) : bf16_round_nearest(wide);
        if (flags & HALF_FTZ)
            rounded =
                f32_choose(f32_abs(wide) < (float)F16_FLUSH_BELOW, f32_from(f32_bits(rounded) & F32_SIGN), rounded);
        d[i] = pack(finish(rounded, flags), kind);
    }
}

/* Returns the sum of two doubles rounded to odd: an inexact sum gets an odd last digit, so that it is not a tie in the
 * second rounding. Knuth's two-sum computes the error. */
LANES_INLINE double add_to_odd(double a, double b) {
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    uint64_t bits = f64_bits(sum);
    uint64_t is_inexact = -(uint64_t)((error < 0) | (error > 0)); /* a NaN error: the sum is infinite or NaN */
    uint64_t points_inward = (bits ^ f64_bits(error)) >> 63;
    uint64_t odd = (bits - points_inward) | 1; /* truncated, with an odd last digit */
    bits = (bits & ~is_inexact) | (odd & is_inexact);
    return f64_from(bits);
}

LANES_INLINE void multiply_add(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    uint16_t *d = o->dst[0];
    const uint16_t *a = o->src[0], *b = o->src[1], *c = o->src[2];
    EXEC_FOR_ELEMENTS(n) {
        float x = load(a[i], kind, flags & HALF_FTZ), y = load(b[i], kind, flags & HALF_FTZ);
        float z = load(c[i], kind, flags & HALF_FTZ);
        double sum = add_to_odd((double)x * (double)y, (double)z);
        float rounded = half_round(sum, kind == KIND_F16 ? F16_FORMAT : BF16_FORMAT);
        if (flags & HALF_FTZ)
            rounded = f32_choose(f64_abs(sum) < F16_FLUSH_BELOW, f32_from(f32_bits(rounded) & F32_SIGN), rounded);
        uint16_t result = pack(finish(rounded, flags), kind);
        if (flags & HALF_OOB)
            result = (uint16_t)u32_choose(((a[i] & 0x7fff) == OUT_OF_BOUNDS) | ((b[i] & 0x7fff) == OUT_OF_BOUNDS), 0,
                                          result);
        d[i] = result;
    }
}

LANES_INLINE void extreme(const struct exec_operands *o, bool is_max, enum half_kind kind, int n, unsigned flags) {
    uint16_t *d = o->dst[0];
    const uint16_t *a = o->src[0], *b = o->src[1];
    EXEC_FOR_ELEMENTS(n) {
        float x = load(a[i], kind, flags & EXTREME_FTZ), y = load(b[i], kind, flags & EXTREME_FTZ);
        uint32_t sign = (f32_bits(x) ^ f32_bits(y)) & F32_SIGN;
        if (flags & EXTREME_XORSIGN_ABS) {
            x = f32_abs(x);
            y = f32_abs(y);
        }
        float result = is_max ? f32_max(x, y) : f32_min(x, y);
        if (flags & EXTREME_XORSIGN_ABS)
            result = f32_from(f32_bits(result) | sign);
        if (flags & EXTREME_NAN)
            result = f32_choose((x == x) & (y == y), result, f32_from(F32_NAN));
        d[i] = pack(result, kind);
    }
}

/* abs clears and neg flips the sign bit; NaN becomes the canonical NaN. */
LANES_INLINE void change_sign(const struct exec_operands *o, bool is_abs, enum half_kind kind, int n, unsigned flags) {
    uint16_t *d = o->dst[0];
    const uint16_t *a = o->src[0];
    uint16_t infinity = kind == KIND_F16 ? 0x7c00 : 0x7f80;
    EXEC_FOR_ELEMENTS(n) {
        uint32_t magnitude = a[i] & 0x7fffu, sign = is_abs ? 0 : ~a[i] & 0x8000u;
        uint32_t kept = flags & HALF_FTZ ? u32_choose(magnitude < 0x0400, 0, magnitude) : magnitude;
        d[i] = (uint16_t)u32_choose(magnitude > infinity, F16_NAN, kept | sign);
    }
}

LANES_INLINE void add(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    binary(o, HALF_ADD, kind, n, flags);
}
LANES_INLINE void sub(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    binary(o, HALF_SUB, kind, n, flags);
}
LANES_INLINE void mul(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    binary(o, HALF_MUL, kind, n, flags);
}
LANES_INLINE void min(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    extreme(o, false, kind, n, flags);
}
LANES_INLINE void max(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    extreme(o, true, kind, n, flags);
}
LANES_INLINE void absolute(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    change_sign(o, true, kind, n, flags);
}
LANES_INLINE void negate(const struct exec_operands *o, enum half_kind kind, int n, unsigned flags) {
    change_sign(o, false, kind, n, flags);
}

/* Instances: name_f16[flags][packed], name_bf16[flags][packed]; NULL where PTX has no such form. */
/* clang-format off */
#define ONE(name, kind, flags)                                                                                         \
    static void name##_##kind##_##flags(const struct exec_operands *o) { name(o, KIND_##kind, EXEC_LANES, flags); }    \
    static void name##_##kind##x2_##flags(const struct exec_operands *o) {                                             \
        name(o, KIND_##kind, 2 * EXEC_LANES, flags);                                                                   \
    }
#define PAIR(name, kind, flags) [flags] = {name##_##kind##_##flags, name##_##kind##x2_##flags}

typedef exec_lanes_fn *const half_forms[16][2];

#define ARITHMETIC(name)                                                                                               \
    ONE(name, F16, 0) ONE(name, F16, 1) ONE(name, F16, 2) ONE(name, F16, 3)                                            \
    ONE(name, BF16, 0)                                                                                                 \
    static half_forms name##_f16 = {PAIR(name, F16, 0), PAIR(name, F16, 1), PAIR(name, F16, 2), PAIR(name, F16, 3)};   \
    static half_forms name##_bf16 = {PAIR(name, BF16, 0)};
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)

ONE(multiply_add, F16, 0)
ONE(multiply_add, F16, 1)
ONE(multiply_add, F16, 2)
ONE(multiply_add, F16, 3)
ONE(multiply_add, F16, 4)
ONE(multiply_add, F16, 5)
ONE(multiply_add, F16, 8)
ONE(multiply_add, F16, 12)
ONE(multiply_add, BF16, 0)
ONE(multiply_add, BF16, 4)
ONE(multiply_add, BF16, 8)
ONE(multiply_add, BF16, 12)
static half_forms multiply_add_f16 = {PAIR(multiply_add, F16, 0), PAIR(multiply_add, F16, 1),
                                      PAIR(multiply_add, F16, 2), PAIR(multiply_add, F16, 3),
                                      PAIR(multiply_add, F16, 4), PAIR(multiply_add, F16, 5),
                                      PAIR(multiply_add, F16, 8), PAIR(multiply_add, F16, 12)};
static half_forms multiply_add_bf16 = {PAIR(multiply_add, BF16, 0), PAIR(multiply_add, BF16, 4),
                                       PAIR(multiply_add, BF16, 8), PAIR(multiply_add, BF16, 12)};

#define EXTREMES(name)                                                                                                 \
    ONE(name, F16, 0) ONE(name, F16, 1) ONE(name, F16, 2) ONE(name, F16, 3)                                            \
    ONE(name, F16, 4) ONE(name, F16, 5) ONE(name, F16, 6) ONE(name, F16, 7)                                            \
    ONE(name, BF16, 0) ONE(name, BF16, 2) ONE(name, BF16, 4) ONE(name, BF16, 6)                                        \
    static half_forms name##_f16 = {PAIR(name, F16, 0), PAIR(name, F16, 1), PAIR(name, F16, 2), PAIR(name, F16, 3),    \
                                    PAIR(name, F16, 4), PAIR(name, F16, 5), PAIR(name, F16, 6), PAIR(name, F16, 7)};   \
    static half_forms name##_bf16 = {PAIR(name, BF16, 0), PAIR(name, BF16, 2), PAIR(name, BF16, 4),                    \
                                     PAIR(name, BF16, 6)};
EXTREMES(min)
EXTREMES(max)

#define SIGNS(name)                                                                                                    \
    ONE(name, F16, 0) ONE(name, F16, 1) ONE(name, BF16, 0)                                                             \
    static half_forms name##_f16 = {PAIR(name, F16, 0), PAIR(name, F16, 1)};                                           \
    static half_forms name##_bf16 = {PAIR(name, BF16, 0)};
SIGNS(absolute)
SIGNS(negate)
/* clang-format on */

static unsigned arithmetic_flags(unsigned modifiers) {
    return (modifiers & FORM_FTZ ? HALF_FTZ : 0) | (modifiers & FORM_SAT ? HALF_SAT : 0) |
           (modifiers & FORM_RELU ? HALF_RELU : 0) | (modifiers & FORM_OOB ? HALF_OOB : 0);
}

static exec_lanes_fn *select_extreme(const struct exec_form *form, unsigned modifiers, bool is_f16, bool is_packed) {
    if (form->n_src != 2 || !form_allows_extreme(modifiers, FORM_FTZ | FORM_NAN))
        return NULL;
    unsigned flags = (modifiers & FORM_FTZ ? EXTREME_FTZ : 0) | (modifiers & FORM_NAN ? EXTREME_NAN : 0) |
                     (modifiers & FORM_XORSIGN ? EXTREME_XORSIGN_ABS : 0);
    if (form->insn->opcode == PTX_OP_MIN)
        return (is_f16 ? min_f16 : min_bf16)[flags][is_packed];
    return (is_f16 ? max_f16 : max_bf16)[flags][is_packed];
}

static exec_lanes_fn *select_arithmetic(const struct exec_form *form, unsigned modifiers, bool is_f16, bool is_packed) {
    unsigned flags = arithmetic_flags(modifiers);
    switch (form->insn->opcode) {
    case PTX_OP_ADD:
        return (is_f16 ? add_f16 : add_bf16)[flags][is_packed];
    case PTX_OP_SUB:
        return (is_f16 ? sub_f16 : sub_bf16)[flags][is_packed];
    case PTX_OP_MUL:
        return (is_f16 ? mul_f16 : mul_bf16)[flags][is_packed];
    case PTX_OP_FMA:
        return modifiers & FORM_RN ? (is_f16 ? multiply_add_f16 : multiply_add_bf16)[flags][is_packed] : NULL;
    case PTX_OP_ABS:
        return modifiers & FORM_RN ? NULL : (is_f16 ? absolute_f16 : absolute_bf16)[flags][is_packed];
    case PTX_OP_NEG:
        return modifiers & FORM_RN ? NULL : (is_f16 ? negate_f16 : negate_bf16)[flags][is_packed];
    default:
        return NULL;
    }
}

exec_lanes_fn *EXEC_NAME(exec_select_half)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    enum ptx_type type = insn->type[0];
    bool is_f16 = type == PTX_F16 || type == PTX_F16X2, is_bf16 = type == PTX_BF16 || type == PTX_BF16X2;
    bool is_packed = type == PTX_F16X2 || type == PTX_BF16X2;
    unsigned modifiers = form_modifiers(insn);
    if (insn->n_types != 1 || (!is_f16 && !is_bf16))
        return NULL;
    if (insn->opcode == PTX_OP_MIN || insn->opcode == PTX_OP_MAX)
        return select_extreme(form, modifiers, is_f16, is_packed);
    if (!form_allows(modifiers, FORM_RN, FORM_FTZ | FORM_SAT | FORM_RELU | FORM_OOB))
        return NULL;
    return select_arithmetic(form, modifiers, is_f16, is_packed);
}
