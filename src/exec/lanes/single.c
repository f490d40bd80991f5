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
LANES_INLINE void unary(const struct exec_operands *o, unary_fn *op, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0];
    EXEC_FOR_LANES d[i] = f32_settle(op(input(a[i], ftz)), ftz, sat);
}

LANES_INLINE void binary(const struct exec_operands *o, binary_fn *op, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = f32_settle(op(input(a[i], ftz), input(b[i], ftz)), ftz, sat);
}

LANES_INLINE float add(float a, float b) { return a + b; }
LANES_INLINE float subtract(float a, float b) { return a - b; }
LANES_INLINE float divide(float a, float b) { return a / b; }
LANES_INLINE float reciprocal(float a) { return 1 / a; }
LANES_INLINE float root(float a) { return sqrtf(a); }
LANES_INLINE float absolute(float a) { return f32_abs(a); }
LANES_INLINE float negate(float a) { return f32_from(f32_bits(a) ^ F32_SIGN); }

/* Products can round up to the smallest normal number from below it. scaled is the same product times 2^24, out of reach of
 * subnormals (where it overflows, the product is nowhere near): it tells whether the result was still small once rounded. */
LANES_INLINE float flush_product(float product, float scaled) {
    bool is_small = f32_abs(product) < F32_MIN_NORMAL || (f32_abs(product) == F32_MIN_NORMAL && f32_abs(scaled) < 0x1p-102f);
    return is_small ? f32_from(f32_bits(product) & F32_SIGN) : product;
}

LANES_INLINE void multiply(const struct exec_operands *o, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), product = x * y;
        if (ftz)
            product = flush_product(product, x * 0x1p24f * y);
        d[i] = f32_settle(product, false, sat);
    }
}

LANES_INLINE void multiply_add(const struct exec_operands *o, bool ftz, bool sat) {
    float *d = o->dst[0];
    const float *a = o->src[0], *b = o->src[1], *c = o->src[2];
    EXEC_FOR_LANES {
        float x = input(a[i], ftz), y = input(b[i], ftz), z = input(c[i], ftz), sum = fmaf(x, y, z);
        if (ftz)
            sum = flush_product(sum, fmaf(x * 0x1p24f, y, z * 0x1p24f));
        d[i] = f32_settle(sum, false, sat);
    }
}

/* One function for each of .ftz and .sat, without and with: name_forms[ftz + 2 * sat]. */
#define FTZ_SAT(name, ...)                                                                                                     \
    static void name##_plain(const struct exec_operands *o) { __VA_ARGS__, false, false); }                                    \
    static void name##_ftz(const struct exec_operands *o) { __VA_ARGS__, true, false); }                                       \
    static void name##_sat(const struct exec_operands *o) { __VA_ARGS__, false, true); }                                       \
    static void name##_ftz_sat(const struct exec_operands *o) { __VA_ARGS__, true, true); }                                    \
    static exec_lanes_fn *const name##_forms[4] = {name##_plain, name##_ftz, name##_sat, name##_ftz_sat};
FTZ_SAT(add, binary(o, add)
FTZ_SAT(sub, binary(o, subtract)
FTZ_SAT(mul, multiply(o)
FTZ_SAT(fma, multiply_add(o)
