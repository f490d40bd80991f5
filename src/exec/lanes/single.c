/* f32 arithmetic: add sub mul fma mad div rcp sqrt abs neg min max copysign.
 *
 * From the floating-point chapter of the PTX ISA manual; bits it leaves open as float.h says. .rz, .rm and .rp run the same
 * functions under the host's rounding mode (exec_form_rounding). mad is fma, as on every device since compute capability 2.0. */
#include <math.h>

#include "exec/lanes/float.h"

typedef float unary_fn(float a);
typedef float binary_fn(float a, float b);

LANES_INLINE float input(float x, bool ftz) { return ftz ? f32_flush(x) : x; }

/* Two shapes of loop: one result per lane from one or two operands. */
LANES_INLINE void unary(const struct exec_operands *o, unary_fn *op, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = f32_settle(op(input(a[i], ftz)), ftz, false);
}

LANES_INLINE void binary(const struct exec_operands *o, binary_fn *op, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = f32_settle(op(input(a[i], ftz), input(b[i], ftz)), ftz, sat);
}

LANES_INLINE float add_lane(float a, float b) { return a + b; }
LANES_INLINE float sub_lane(float a, float b) { return a - b; }
LANES_INLINE float sqrt_lane(float a) { return sqrtf(a); }
LANES_INLINE float abs_lane(float a) { return f32_abs(a); }
LANES_INLINE float neg_lane(float a) { return f32_from(f32_bits(a) ^ F32_SIGN); }

LANES_INLINE void add(const struct exec_operands *o, bool ftz, bool sat) { binary(o, add_lane, ftz, sat); }
LANES_INLINE void sub(const struct exec_operands *o, bool ftz, bool sat) { binary(o, sub_lane, ftz, sat); }

/* A product or quotient can round up to the smallest normal number from below. scaled is the same result times 2^24, out of the
 * reach of subnormals: it tells whether the result was still small once rounded. Where it overflows, the result is not small. */
LANES_INLINE float flush_result(float result, float scaled) {
    bool is_small = f32_abs(result) < F32_MIN_NORMAL;
    is_small |= (f32_abs(result) == F32_MIN_NORMAL) & (f32_abs(scaled) < 0x1p-102f);
    return f32_choose(is_small, f32_from(f32_bits(result) & F32_SIGN), result);
}

LANES_INLINE void mul(const struct exec_operands *o, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), product = x * y;
        if (ftz)
            product = flush_result(product, x * 0x1p24f * y);
        d[i] = f32_settle(product, false, sat);
    }
}

LANES_INLINE void multiply_add(const struct exec_operands *o, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1], *c = o->src[2];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), z = input(c[i], ftz), sum = fmaf(x, y, z);
        if (ftz)
            sum = flush_result(sum, fmaf(x * 0x1p24f, y, z * 0x1p24f));
        d[i] = f32_settle(sum, false, sat);
    }
}

LANES_INLINE void divide(const struct exec_operands *o, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), quotient = x / y;
        if (ftz)
            quotient = flush_result(quotient, x * 0x1p24f / y);
        d[i] = f32_canonical(quotient);
    }
}

LANES_INLINE void rcp(const struct exec_operands *o, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), quotient = 1 / x;
        if (ftz)
            quotient = flush_result(quotient, 0x1p24f / x);
        d[i] = f32_canonical(quotient);
    }
}

LANES_INLINE void root(const struct exec_operands *o, bool ftz) { unary(o, sqrt_lane, ftz); }
LANES_INLINE void absolute(const struct exec_operands *o, bool ftz) { unary(o, abs_lane, ftz); }
LANES_INLINE void negate(const struct exec_operands *o, bool ftz) { unary(o, neg_lane, ftz); }

static void copy_sign(const struct exec_operands *o) {
    uint32_t *d = o->dst[0];
    const uint32_t *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = (a[i] & F32_SIGN) | (b[i] & ~F32_SIGN);
}

enum { EXTREME_FTZ = 1, EXTREME_NAN = 2, EXTREME_XORSIGN_ABS = 4 };

/* min and max. .NaN: a NaN operand wins. .xorsign.abs: of the magnitudes, with the product's sign. */
LANES_INLINE void extreme(const struct exec_operands *o, binary_fn *op, unsigned flags) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = input(a[i], flags & EXTREME_FTZ), y = input(b[i], flags & EXTREME_FTZ);
        uint32_t sign = (f32_bits(x) ^ f32_bits(y)) & F32_SIGN;
        if (flags & EXTREME_XORSIGN_ABS) {
            x = f32_abs(x);
            y = f32_abs(y);
        }
        float result = op(x, y);
        if (flags & EXTREME_XORSIGN_ABS)
            result = f32_from(f32_bits(result) | sign);
        if (flags & EXTREME_NAN)
            result = f32_choose((x == x) & (y == y), result, f32_from(F32_NAN));
        d[i] = f32_canonical(result);
    }
}

/* An instance for each combination of .ftz and .sat: name_forms[ftz + 2 * sat]. */
#define FTZ_SAT(name)                                                                                                          \
    static void name##_plain(const struct exec_operands *o) { name(o, false, false); }                                         \
    static void name##_ftz(const struct exec_operands *o) { name(o, true, false); }                                            \
    static void name##_sat(const struct exec_operands *o) { name(o, false, true); }                                            \
    static void name##_ftz_sat(const struct exec_operands *o) { name(o, true, true); }                                         \
    static exec_lanes_fn *const name##_forms[4] = {name##_plain, name##_ftz, name##_sat, name##_ftz_sat};
FTZ_SAT(add)
FTZ_SAT(sub)
FTZ_SAT(mul)
FTZ_SAT(multiply_add)

/* name_forms[ftz] of an operation that knows no .sat. */
#define FTZ(name)                                                                                                              \
    static void name##_plain(const struct exec_operands *o) { name(o, false); }                                                \
    static void name##_ftz(const struct exec_operands *o) { name(o, true); }                                                   \
    static exec_lanes_fn *const name##_forms[2] = {name##_plain, name##_ftz};
FTZ(divide)
FTZ(rcp)
FTZ(root)
FTZ(absolute)
FTZ(negate)

#define EXTREME(name, op, flags)                                                                                               \
    static void name##flags(const struct exec_operands *o) { extreme(o, op, flags); }
#define EXTREMES(name, op)                                                                                                     \
    EXTREME(name, op, 0) EXTREME(name, op, 1) EXTREME(name, op, 2) EXTREME(name, op, 3)                                        \
    EXTREME(name, op, 4) EXTREME(name, op, 5) EXTREME(name, op, 6) EXTREME(name, op, 7)                                        \
    static exec_lanes_fn *const name##_forms[8] = {name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7};
EXTREMES(min, f32_min)
EXTREMES(max, f32_max)

static bool has_rounding(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_RN) || ptx_has(insn, PTX_MOD_RZ) || ptx_has(insn, PTX_MOD_RM) || ptx_has(insn, PTX_MOD_RP);
}

exec_lanes_fn *EXEC_NAME(exec_select_single)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (insn->n_types != 1 || insn->type[0] != PTX_F32)
        return NULL;
    bool ftz = ptx_has(insn, PTX_MOD_FTZ), sat = ptx_has(insn, PTX_MOD_SAT), rounds = has_rounding(insn);
    unsigned which = ftz + 2u * sat;
    unsigned extreme_which = (ftz ? EXTREME_FTZ : 0) | (ptx_has(insn, PTX_MOD_NAN) ? EXTREME_NAN : 0) |
                             (ptx_has(insn, PTX_MOD_XORSIGN) ? EXTREME_XORSIGN_ABS : 0);
    switch (insn->opcode) {
    case PTX_OP_ADD:
        return form->n_src == 2 ? add_forms[which] : NULL;
    case PTX_OP_SUB:
        return form->n_src == 2 ? sub_forms[which] : NULL;
    case PTX_OP_MUL:
        return form->n_src == 2 ? mul_forms[which] : NULL;
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return form->n_src == 3 ? multiply_add_forms[which] : NULL;
    case PTX_OP_DIV: /* .approx and .full: approx.c */
        return rounds ? divide_forms[ftz] : NULL;
    case PTX_OP_RCP:
        return rounds ? rcp_forms[ftz] : NULL;
    case PTX_OP_SQRT:
        return rounds ? root_forms[ftz] : NULL;
    case PTX_OP_ABS:
        return absolute_forms[ftz];
    case PTX_OP_NEG:
        return negate_forms[ftz];
    case PTX_OP_MIN:
        return form->n_src == 2 ? min_forms[extreme_which] : NULL;
    case PTX_OP_MAX:
        return form->n_src == 2 ? max_forms[extreme_which] : NULL;
    case PTX_OP_COPYSIGN:
        return copy_sign;
    default:
        return NULL;
    }
}
