/* f32 arithmetic: add sub mul fma mad div rcp sqrt abs neg min max copysign; also add sub mul fma of pairs (f32x2).
 *
 * From the floating-point chapter of the PTX ISA manual; float.h contains the rules for NaN and .ftz. .rz, .rm and .rp
 * run the same functions under the host's rounding mode (exec_form_rounding). mad is fma, as on every device since
 * compute capability 2.0. */
#include <math.h>

#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

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

LANES_INLINE void mul(const struct exec_operands *o, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), product = x * y;
        if (ftz)
            product = f32_flush_result(product, x * 0x1p24f * y);
        d[i] = f32_settle(product, false, sat);
    }
}

LANES_INLINE void multiply_add(const struct exec_operands *o, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1], *c = o->src[2];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), z = input(c[i], ftz), sum = fmaf(x, y, z);
        if (ftz)
            sum = f32_flush_result(sum, fmaf(x * 0x1p24f, y, z * 0x1p24f));
        d[i] = f32_settle(sum, false, sat);
    }
}

LANES_INLINE void divide(const struct exec_operands *o, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), quotient = x / y;
        if (ftz)
            quotient = f32_flush_result(quotient, x * 0x1p24f / y);
        d[i] = f32_canonical(quotient);
    }
}

LANES_INLINE void rcp(const struct exec_operands *o, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), quotient = 1 / x;
        if (ftz)
            quotient = f32_flush_result(quotient, 0x1p24f / x);
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

/* min and max. .NaN: a NaN operand takes precedence. .xorsign.abs: compares magnitudes, with the sign of the product.
 */
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
#define FTZ_SAT(name)                                                                                                  \
    static void name##_plain(const struct exec_operands *o) { name(o, false, false); }                                 \
    static void name##_ftz(const struct exec_operands *o) { name(o, true, false); }                                    \
    static void name##_sat(const struct exec_operands *o) { name(o, false, true); }                                    \
    static void name##_ftz_sat(const struct exec_operands *o) { name(o, true, true); }                                 \
    static exec_lanes_fn *const name##_forms[4] = {name##_plain, name##_ftz, name##_sat, name##_ftz_sat};
FTZ_SAT(add)
FTZ_SAT(sub)
FTZ_SAT(mul)
FTZ_SAT(multiply_add)

/* f32x2: the two halves of a 64-bit register are neighbours, so that 32 registers are twice 32 numbers.
 * name_pairs[ftz].
 */
LANES_INLINE void on_pairs(const struct exec_operands *o, exec_lanes_fn *single, unsigned n_src) {
    for (unsigned half = 0; half < 2; half++) {
        struct exec_operands part = *o;
        part.dst[0] = (float *)o->dst[0] + half * EXEC_LANES;
        for (unsigned k = 0; k < n_src; k++)
            part.src[k] = (const float *)o->src[k] + half * EXEC_LANES;
        single(&part);
    }
}

#define PAIRS(name, n_src)                                                                                             \
    static void name##_pairs_plain(const struct exec_operands *o) { on_pairs(o, name##_plain, n_src); }                \
    static void name##_pairs_ftz(const struct exec_operands *o) { on_pairs(o, name##_ftz, n_src); }                    \
    static exec_lanes_fn *const name##_pairs[2] = {name##_pairs_plain, name##_pairs_ftz};
PAIRS(add, 2)
PAIRS(sub, 2)
PAIRS(mul, 2)
PAIRS(multiply_add, 3)

/* name_forms[ftz], for an operation without .sat. */
#define FTZ(name)                                                                                                      \
    static void name##_plain(const struct exec_operands *o) { name(o, false); }                                        \
    static void name##_ftz(const struct exec_operands *o) { name(o, true); }                                           \
    static exec_lanes_fn *const name##_forms[2] = {name##_plain, name##_ftz};
FTZ(divide)
FTZ(rcp)
FTZ(root)
FTZ(absolute)
FTZ(negate)

/* name_forms[flags]. */
/* clang-format off */
#define EXTREME(name, op, flags) static void name##flags(const struct exec_operands *o) { extreme(o, op, flags); }
#define EXTREMES(name, op)                                                                                             \
    EXTREME(name, op, 0) EXTREME(name, op, 1) EXTREME(name, op, 2) EXTREME(name, op, 3)                                \
    EXTREME(name, op, 4) EXTREME(name, op, 5) EXTREME(name, op, 6) EXTREME(name, op, 7)                                \
    static exec_lanes_fn *const name##_forms[8] = {name##0, name##1, name##2, name##3, name##4, name##5, name##6,      \
                                                   name##7};
/* clang-format on */
EXTREMES(min, f32_min)
EXTREMES(max, f32_max)

static exec_lanes_fn *select_arithmetic(const struct exec_form *form, unsigned modifiers) {
    if (!form_allows(modifiers, FORM_ROUNDINGS, FORM_FTZ | FORM_SAT))
        return NULL;
    unsigned which = (modifiers & FORM_FTZ ? 1 : 0) + (modifiers & FORM_SAT ? 2 : 0);
    switch (form->insn->opcode) {
    case PTX_OP_ADD:
        return add_forms[which];
    case PTX_OP_SUB:
        return sub_forms[which];
    case PTX_OP_MUL:
        return mul_forms[which];
    default: /* fma mad */
        return modifiers & FORM_ROUNDINGS ? multiply_add_forms[which] : NULL;
    }
}

static exec_lanes_fn *select_quotient(const struct exec_form *form, unsigned modifiers) {
    bool ftz = modifiers & FORM_FTZ;
    if (!form_allows(modifiers, FORM_ROUNDINGS, FORM_FTZ) || !(modifiers & FORM_ROUNDINGS))
        return NULL; /* .approx and .full: approx.c */
    switch (form->insn->opcode) {
    case PTX_OP_DIV:
        return divide_forms[ftz];
    case PTX_OP_RCP:
        return rcp_forms[ftz];
    default:
        return root_forms[ftz];
    }
}

static exec_lanes_fn *select_extreme(const struct exec_form *form, unsigned modifiers) {
    if (form->n_src != 2 || !form_allows_extreme(modifiers, FORM_FTZ | FORM_NAN))
        return NULL;
    unsigned which = (modifiers & FORM_FTZ ? EXTREME_FTZ : 0) | (modifiers & FORM_NAN ? EXTREME_NAN : 0) |
                     (modifiers & FORM_XORSIGN ? EXTREME_XORSIGN_ABS : 0);
    return form->insn->opcode == PTX_OP_MIN ? min_forms[which] : max_forms[which];
}

static exec_lanes_fn *select_pairs(const struct exec_form *form, unsigned modifiers) {
    bool ftz = modifiers & FORM_FTZ;
    if (!form_allows(modifiers, FORM_ROUNDINGS, FORM_FTZ))
        return NULL;
    switch (form->insn->opcode) {
    case PTX_OP_ADD:
        return add_pairs[ftz];
    case PTX_OP_SUB:
        return sub_pairs[ftz];
    case PTX_OP_MUL:
        return mul_pairs[ftz];
    case PTX_OP_FMA:
        return modifiers & FORM_ROUNDINGS ? multiply_add_pairs[ftz] : NULL;
    default:
        return NULL;
    }
}

exec_lanes_fn *EXEC_NAME(exec_select_single)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned modifiers = form_modifiers(insn);
    bool ftz = modifiers & FORM_FTZ;
    if (insn->n_types == 1 && insn->type[0] == PTX_F32X2)
        return select_pairs(form, modifiers);
    if (insn->n_types != 1 || insn->type[0] != PTX_F32)
        return NULL;
    switch (insn->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return select_arithmetic(form, modifiers);
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
        return select_quotient(form, modifiers);
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return select_extreme(form, modifiers);
    case PTX_OP_ABS:
        return modifiers & ~FORM_FTZ ? NULL : absolute_forms[ftz];
    case PTX_OP_NEG:
        return modifiers & ~FORM_FTZ ? NULL : negate_forms[ftz];
    case PTX_OP_COPYSIGN:
        return modifiers ? NULL : copy_sign;
    default:
        return NULL;
    }
}
