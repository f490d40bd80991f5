/* The approximate instructions: rcp sqrt rsqrt div .approx and .full, sin cos ex2 lg2 tanh.
 *
 * The PTX ISA manual bounds their errors and tabulates special operands; the bits depend on the hardware. Here each
 * result is within one f32 unit in the last place of the exact value, well inside the bounds, and the same on every
 * host: it is computed in f64 with only additions, multiplications and divisions, and no library function except the
 * exact square root. Two properties of the hardware are visible in results and kept: sin and cos convert the angle to
 * revolutions with an f32 product rounded toward zero, and the f64 approximations use and return only upper words. The
 * polynomials are Chebyshev fits. A comment at each polynomial states the error of the fit. */
#include <math.h>

#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

typedef double kernel_fn(double x);

LANES_INLINE double polynomial(double x, const double *c, int n) {
    double sum = c[n - 1];
    for (int k = n - 2; k >= 0; k--)
        sum = sum * x + c[k];
    return sum;
}

/* 1.5 * 2^52: adding it rounds a number below 2^51 to an integer and leaves that integer in the low bits. */
#define ROUNDER 0x1.8p52

/* 2^x; x in [-1000, 1000]. 2^f for f in [-1/2, 1/2] to 2^-46, relative; the integer is added to the exponent. */
LANES_INLINE double power_of_two(double x) {
    static const double c[] = {0x1.000000000003dp+0,  0x1.62e42fefa39f7p-1,  0x1.ebfbdff8149f2p-3,
                               0x1.c6b08d7044119p-5,  0x1.3b2ab72b175eep-7,  0x1.5d87fe908f88ap-10,
                               0x1.43088e257f341p-13, 0x1.ffcb76789860fp-17, 0x1.63ef969a64d3cp-20,
                               0x1.b6571de2f2351p-24};
    double shifted = x + ROUNDER, f = x - (shifted - ROUNDER);
    uint64_t exponent = f64_bits(shifted) << 52;
    return f64_from(f64_bits(polynomial(f, c, 10)) + exponent);
}

LANES_INLINE double ex2_kernel(double x) {
    double near = f64_choose(x > 200, 200, x);
    near = f64_choose(near < -200, -200, near);
    double result = power_of_two(near);
    return f64_choose(x == x, result, x);
}

/* log2(m * 2^e), m in [sqrt(1/2), sqrt(2)): e plus the series in t = (m - 1) / (m + 1), to 2^-58 relative. */
LANES_INLINE double lg2_kernel(double x) {
    static const double c[] = {0x1.71547652b82fep+1, 0x1.ec709dc3a047dp-1, 0x1.2776c50ee39a4p-1, 0x1.a61762d699b46p-2,
                               0x1.484afb77d8797p-2, 0x1.0ca160eda205bp-2, 0x1.c46df723fd2ebp-3, 0x1.b594042f590e9p-3};
    uint64_t above_root = f64_bits(x) - 0x3fe6a09e667f3bcdu; /* bits of sqrt(1/2): whole exponents above it are e */
    int64_t e = (int64_t)above_root >> 52;
    double m = f64_from(f64_bits(x) - ((uint64_t)e << 52));
    double t = (m - 1) / (m + 1);
    double exponent = f64_from(f64_bits(ROUNDER) + (uint64_t)e) - ROUNDER;
    double result = exponent + t * polynomial(t * t, c, 8);
    result = f64_choose(x == f64_from(F64_INFINITY), x, result);
    result = f64_choose(x < 0, f64_from(F64_NAN), result);
    result = f64_choose(x == 0, -f64_from(F64_INFINITY), result);
    return f64_choose(x == x, result, x);
}

/* sin and cos of a quarter turn times s, s in [-1/2, 1/2], to 2^-57 and 2^-54, absolute. */
LANES_INLINE double sine(double s) {
    static const double c[] = {0x1.921fb54442d18p+0,  -0x1.4abbce625be41p-1, 0x1.466bc677587f8p-4,
                               -0x1.32d2cce2e5b19p-8, 0x1.50782fda12d96p-13, -0x1.e30071afc3e59p-19,
                               0x1.e3f38399551bfp-25};
    return s * polynomial(s * s, c, 7);
}

LANES_INLINE double cosine(double s) {
    static const double c[] = {0x1.0000000000000p+0,  -0x1.3bd3cc9be458bp+0, 0x1.03c1f081b0780p-2,
                               -0x1.55d3c7dbfd139p-6, 0x1.e1f4fb60281f6p-11, -0x1.a6c9c1be9eb49p-16,
                               0x1.f3dbcea61b1a4p-22};
    return polynomial(s * s, c, 7);
}

/* sin of x, or of x plus a quarter turn. From 2^24 revolutions on, an f32 holds only whole ones: the angle is 0. */
LANES_INLINE double circular(double x, uint64_t quarters) {
    double turns = x * (double)0x1.45f306p-3f;
    turns = f64_from(f64_bits(turns) & ~0x1fffffffull); /* an f32, rounded toward zero */
    turns = f64_choose(f64_abs(turns) < 0x1p24, turns, f64_from(f64_bits(turns) & F64_SIGN));
    double shifted = 4 * turns + ROUNDER, s = 4 * turns - (shifted - ROUNDER);
    uint64_t quadrant = f64_bits(shifted) + quarters;
    double result = f64_choose(quadrant & 1, cosine(s), sine(s));
    result = f64_from(f64_bits(result) ^ (quadrant & 2) << 62);
    return f64_choose(f64_abs(x) < f64_from(F64_INFINITY), result, f64_from(F64_NAN));
}

LANES_INLINE double sin_kernel(double x) { return circular(x, 0); }
LANES_INLINE double cos_kernel(double x) { return circular(x, 1); }

/* Below 1/4 an odd series to 2^-57, relative; above, computed from 2^(2x / ln 2). */
LANES_INLINE double tanh_kernel(double x) {
    static const double c[] = {0x1.0000000000000p+0,  -0x1.55555555554c8p-2, 0x1.11111110f9de6p-3,
                               -0x1.ba1ba18bb1e71p-5, 0x1.664f31ae1d544p-6,  -0x1.226818cc666c6p-7,
                               0x1.d501d897ef669p-9,  -0x1.59231f3bb903ap-10};
    double size = f64_choose(f64_abs(x) < 50, f64_abs(x), 50);
    double large = 1 - 2 / (power_of_two(size * 0x1.71547652b82fep+1) + 1);
    double small = size * polynomial(size * size, c, 8);
    double result = f64_choose(size < 0.25, small, large);
    result = f64_from(f64_bits(result) | (f64_bits(x) & F64_SIGN));
    return f64_choose(x == x, result, x);
}

LANES_INLINE double rcp_kernel(double x) { return 1 / x; }
LANES_INLINE double sqrt_kernel(double x) { return sqrt(x); }

/* The root keeps the sign of zero. */
LANES_INLINE double rsqrt_kernel(double x) { return 1 / sqrt(x); }

LANES_INLINE void single_lanes(const struct exec_operands *o, kernel_fn *kernel, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = f32_settle((float)kernel((double)(ftz ? f32_flush(a[i]) : a[i])), ftz, false);
}

#define SINGLE(name)                                                                                                   \
    static void name##_single(const struct exec_operands *o) { single_lanes(o, name##_kernel, false); }                \
    static void name##_single_ftz(const struct exec_operands *o) { single_lanes(o, name##_kernel, true); }             \
    static exec_lanes_fn *const name##_forms[2] = {name##_single, name##_single_ftz};
SINGLE(rcp)
SINGLE(sqrt)
SINGLE(rsqrt)
SINGLE(sin)
SINGLE(cos)
SINGLE(ex2)
SINGLE(lg2)
SINGLE(tanh)

/* .approx multiplies by the reciprocal of b, which is 0 for |b| in (2^126, 2^128): the quotient is 0, or NaN for an
 * infinite a. */
LANES_INLINE void divide(const struct exec_operands *o, bool is_full, bool ftz) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = ftz ? f32_flush(a[i]) : a[i], y = ftz ? f32_flush(b[i]) : b[i];
        float quotient = x / y;
        if (ftz)
            quotient = f32_flush_result(quotient, x * 0x1p24f / y);
        if (!is_full) {
            float by_zero = x * f32_from(f32_bits(y) & F32_SIGN);
            quotient = f32_choose(both(f32_abs(y) > 0x1p126f, f32_abs(y) < f32_from(F32_INFINITY)), by_zero, quotient);
        }
        d[i] = f32_canonical(quotient);
    }
}

static void divide_approx(const struct exec_operands *o) { divide(o, false, false); }
static void divide_approx_ftz(const struct exec_operands *o) { divide(o, false, true); }
static void divide_full(const struct exec_operands *o) { divide(o, true, false); }
static void divide_full_ftz(const struct exec_operands *o) { divide(o, true, true); }

/* f64 .ftz forms: the low word of the operand is ignored and that of the result is 0; subnormals count as zeros; a NaN
 * is all ones in the upper word except the sign. */
LANES_INLINE void upper_word_lanes(const struct exec_operands *o, kernel_fn *kernel) {
    double *d = o->dst[0];
    const uint64_t *a = o->src[0];
    EXEC_FOR_LANES {
        double x = f64_from(a[i] & 0xffffffff00000000u);
        x = f64_choose(f64_abs(x) < 0x1p-1022, f64_from(f64_bits(x) & F64_SIGN), x);
        double result = f64_from(f64_bits(kernel(x)) & 0xffffffff00000000u);
        result = f64_choose(f64_abs(result) < 0x1p-1022, f64_from(f64_bits(result) & F64_SIGN), result);
        d[i] = f64_choose(result == result, result, f64_from(0x7fffffff00000000u));
    }
}

static void rcp_upper(const struct exec_operands *o) { upper_word_lanes(o, rcp_kernel); }
static void rsqrt_upper(const struct exec_operands *o) { upper_word_lanes(o, rsqrt_kernel); }

/* One Newton step on the quotient, with a * y in two exact parts, makes it the nearest f64 in all but the rarest cases.
 */
static void rsqrt_double(const struct exec_operands *o) {
    double *d = o->dst[0];
    const double *a = o->src[0];
    EXEC_FOR_LANES {
        double y = 1 / sqrt(a[i]), product = a[i] * y, rest = fma(a[i], y, -product);
        double error = fma(-product, y, 1) - rest * y;
        double better = y + 0.5 * y * error;
        y = f64_choose(better == better, better, y);
        d[i] = f64_with_nan(y, a[i], a[i], a[i]);
    }
}

/* Halves: the kernel's result, rounded once. ex2 of bf16 always has .ftz. */
LANES_INLINE void half_lanes(const struct exec_operands *o, kernel_fn *kernel, bool is_f16, int n, bool ftz) {
    uint16_t *d = o->dst[0];
    const uint16_t *a = o->src[0];
    EXEC_FOR_ELEMENTS(n) {
        float x = is_f16 ? f16_widen(a[i]) : bf16_widen(a[i]);
        float result = half_round(kernel((double)(ftz ? f32_flush(x) : x)), is_f16 ? F16_FORMAT : BF16_FORMAT);
        d[i] = is_f16 ? f16_pack(result) : bf16_pack(ftz ? f32_flush(result) : result);
    }
}

static void ex2_f16(const struct exec_operands *o) { half_lanes(o, ex2_kernel, true, EXEC_LANES, false); }
static void ex2_f16x2(const struct exec_operands *o) { half_lanes(o, ex2_kernel, true, 2 * EXEC_LANES, false); }
static void ex2_bf16(const struct exec_operands *o) { half_lanes(o, ex2_kernel, false, EXEC_LANES, true); }
static void ex2_bf16x2(const struct exec_operands *o) { half_lanes(o, ex2_kernel, false, 2 * EXEC_LANES, true); }
static void tanh_f16(const struct exec_operands *o) { half_lanes(o, tanh_kernel, true, EXEC_LANES, false); }
static void tanh_f16x2(const struct exec_operands *o) { half_lanes(o, tanh_kernel, true, 2 * EXEC_LANES, false); }
static void tanh_bf16(const struct exec_operands *o) { half_lanes(o, tanh_kernel, false, EXEC_LANES, false); }
static void tanh_bf16x2(const struct exec_operands *o) { half_lanes(o, tanh_kernel, false, 2 * EXEC_LANES, false); }

static exec_lanes_fn *select_single(const struct ptx_instruction *insn, bool ftz) {
    switch (insn->opcode) {
    case PTX_OP_RCP:
        return rcp_forms[ftz];
    case PTX_OP_SQRT:
        return sqrt_forms[ftz];
    case PTX_OP_RSQRT:
        return rsqrt_forms[ftz];
    case PTX_OP_SIN:
        return sin_forms[ftz];
    case PTX_OP_COS:
        return cos_forms[ftz];
    case PTX_OP_EX2:
        return ex2_forms[ftz];
    case PTX_OP_LG2:
        return lg2_forms[ftz];
    case PTX_OP_TANH:
        return ftz ? NULL : tanh_forms[0];
    case PTX_OP_DIV:
        return ftz ? divide_approx_ftz : divide_approx;
    default:
        return NULL;
    }
}

static exec_lanes_fn *select_half(const struct ptx_instruction *insn, bool ftz) {
    bool is_tanh = insn->opcode == PTX_OP_TANH, is_bf16 = insn->type[0] == PTX_BF16 || insn->type[0] == PTX_BF16X2;
    if ((!is_tanh && insn->opcode != PTX_OP_EX2) || ftz != (!is_tanh && is_bf16))
        return NULL;
    switch (insn->type[0]) {
    case PTX_F16:
        return is_tanh ? tanh_f16 : ex2_f16;
    case PTX_F16X2:
        return is_tanh ? tanh_f16x2 : ex2_f16x2;
    case PTX_BF16:
        return is_tanh ? tanh_bf16 : ex2_bf16;
    case PTX_BF16X2:
        return is_tanh ? tanh_bf16x2 : ex2_bf16x2;
    default:
        return NULL;
    }
}

exec_lanes_fn *EXEC_NAME(exec_select_approx)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned modifiers = form_modifiers(insn);
    bool ftz = modifiers & FORM_FTZ;
    if (insn->n_types != 1 || !form_allows(modifiers, FORM_APPROX | FORM_FULL, FORM_FTZ))
        return NULL;
    if (insn->opcode == PTX_OP_DIV && modifiers & FORM_FULL && insn->type[0] == PTX_F32)
        return ftz ? divide_full_ftz : divide_full;
    if (!(modifiers & FORM_APPROX))
        return NULL;
    if (insn->type[0] == PTX_F32)
        return select_single(insn, ftz);
    if (insn->type[0] != PTX_F64)
        return select_half(insn, ftz);
    if (insn->opcode == PTX_OP_RSQRT)
        return ftz ? rsqrt_upper : rsqrt_double;
    return insn->opcode == PTX_OP_RCP && ftz ? rcp_upper : NULL;
}
