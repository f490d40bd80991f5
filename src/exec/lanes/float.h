/* Helpers of the floating-point lane files: bits and values, the rules for NaN, .ftz and .sat, and the half formats.
 *
 * Sources: the PTX ISA manual for the operations; where it does not define bits (NaN payloads, the step at which .ftz
 * flushes), the results of an NVIDIA H200 (compute capability 9.0), which these rules reproduce:
 * - f32, f16 and bf16 results that are NaN are all ones except the sign: 0x7fffffff, 0x7fff.
 * - f64 results keep the payload of a NaN operand, made quiet; a NaN without a NaN operand is 0xfff8000000000000.
 * - .ftz flushes a result that is subnormal after rounding with an unbounded exponent: this includes a result that
 *   rounds up to the smallest normal number only because subnormals are coarse.
 * - .sat turns NaN and -0 into +0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "exec/lanes/lanes.h"

/* Templates are inlined so that their flags become constants and the loop of each instance vectorises. */
#define LANES_INLINE static inline __attribute__((always_inline))

/* A loop over elements. A lane may hold two: packed halves. */
#if defined(__clang__)
#define EXEC_FOR_ELEMENTS(n) _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < (n); i++)
#else
#define EXEC_FOR_ELEMENTS(n) _Pragma("GCC ivdep") for (int i = 0; i < (n); i++)
#endif

#define F32_NAN 0x7fffffffu
#define F32_SIGN 0x80000000u
#define F32_INFINITY 0x7f800000u
#define F32_MIN_NORMAL 0x1p-126f
#define F64_NAN 0xfff8000000000000u
#define F64_QUIET 0x0008000000000000u
#define F64_SIGN 0x8000000000000000u
#define F64_INFINITY 0x7ff0000000000000u
#define F16_NAN 0x7fffu

LANES_INLINE uint32_t f32_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LANES_INLINE float f32_from(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

LANES_INLINE uint64_t f64_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LANES_INLINE double f64_from(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Chooses with bit masks, not branches: a loop that calls sqrtf or fmaf vectorises only without control flow. */
LANES_INLINE bool both(bool a, bool b) { return a && b; }

LANES_INLINE uint32_t u32_choose(bool condition, uint32_t yes, uint32_t no) {
    uint32_t mask = -(uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

LANES_INLINE float f32_choose(bool condition, float yes, float no) {
    return f32_from(u32_choose(condition, f32_bits(yes), f32_bits(no)));
}

LANES_INLINE double f64_choose(bool condition, double yes, double no) {
    uint64_t mask = -(uint64_t)condition;
    return f64_from((f64_bits(yes) & mask) | (f64_bits(no) & ~mask));
}

LANES_INLINE float f32_abs(float x) { return f32_from(f32_bits(x) & ~F32_SIGN); }
LANES_INLINE double f64_abs(double x) { return f64_from(f64_bits(x) & ~F64_SIGN); }

/* Subnormals become zeros of their sign. */
LANES_INLINE float f32_flush(float x) {
    return f32_choose(f32_abs(x) < F32_MIN_NORMAL, f32_from(f32_bits(x) & F32_SIGN), x);
}

/* A product or quotient can round up to the smallest normal number from below. `scaled` is the same result times 2^24,
 * outside the subnormal range, and shows whether the rounded result is still small. If it overflows, the result is not
 * small. */
LANES_INLINE float f32_flush_result(float result, float scaled) {
    bool is_small = f32_abs(result) < F32_MIN_NORMAL;
    is_small |= both(f32_abs(result) == F32_MIN_NORMAL, f32_abs(scaled) < 0x1p-102f);
    return f32_choose(is_small, f32_from(f32_bits(result) & F32_SIGN), result);
}

LANES_INLINE float f32_canonical(float x) { return f32_choose(x == x, x, f32_from(F32_NAN)); }

/* Clamps to [+0, 1]; NaN and -0 become +0. */
LANES_INLINE float f32_saturate(float x) { return f32_choose(x > 0, f32_choose(x < 1, x, 1), 0); }
LANES_INLINE double f64_saturate(double x) { return f64_choose(x > 0, f64_choose(x < 1, x, 1), 0); }

/* The last steps of an f32 operation that does not need f32_flush_result(). */
LANES_INLINE float f32_settle(float x, bool ftz, bool sat) {
    if (ftz)
        x = f32_flush(x);
    return sat ? f32_saturate(x) : f32_canonical(x);
}

/* Returns the NaN of an f64 operation whose result is NaN: that of the first of these operands that is NaN, made quiet,
 * otherwise the default NaN. The hardware checks b, then c, then a of d = a * b + c; b, then a of a sum, product,
 * minimum or maximum; a, then b of a quotient. */
LANES_INLINE double f64_nan_of(double first, double second, double third) {
    double nan = f64_choose(third == third, f64_from(F64_NAN), third);
    nan = f64_choose(second == second, nan, second);
    nan = f64_choose(first == first, nan, first);
    return f64_from(f64_bits(nan) | F64_QUIET);
}

LANES_INLINE double f64_with_nan(double result, double first, double second, double third) {
    return f64_choose(result == result, result, f64_nan_of(first, second, third));
}

/* -0 is less than +0; a number takes precedence over a NaN. If both are NaN, the result is one of them. */
LANES_INLINE float f32_min(float a, float b) {
    float least = f32_choose(a < b, a, b);
    least = f32_choose(a == b, f32_from(f32_bits(a) | f32_bits(b)), least);
    return f32_choose(a == a, f32_choose(b == b, least, a), b);
}

LANES_INLINE float f32_max(float a, float b) {
    float most = f32_choose(a > b, a, b);
    most = f32_choose(a == b, f32_from(f32_bits(a) & f32_bits(b)), most);
    return f32_choose(a == a, f32_choose(b == b, most, a), b);
}

/* f16 and bf16 widen exactly to f32; a NaN stays a NaN. */
LANES_INLINE float f16_widen(uint32_t half) {
    uint32_t magnitude = half & 0x7fff, sign = (half & 0x8000) << 16;
    uint32_t wide = (magnitude << 13) + (112u << 23);
    wide = u32_choose(magnitude >= 0x7c00, wide + (112u << 23), wide);
    wide = u32_choose(magnitude < 0x0400, f32_bits((float)(int32_t)magnitude * 0x1p-24f), wide);
    return f32_from(wide | sign);
}

LANES_INLINE float bf16_widen(uint32_t half) { return f32_from(half << 16); }

/* The limits of a half format, as doubles. */
struct half_format {
    double min_normal;
    double anchor; /* 1.5 * 2^k: times the power of two below x, its last binary place is that of x in the format */
    double max_finite;
};
#define F16_FORMAT ((struct half_format){0x1p-14, 0x1.8p42, 65504})
#define BF16_FORMAT ((struct half_format){0x1p-126, 0x1.8p45, 0x1.fep127})

/* Rounds a number to the format in the host's rounding mode, so that one function serves all four modes: adding and
 * subtracting the anchor makes the host round at the format's last place. An overflow becomes infinity or the largest
 * number, as in the host's mode. NaN stays NaN. */
LANES_INLINE float half_round(double x, struct half_format f) {
    double scale = f64_choose(f64_abs(x) < f.min_normal, f.min_normal, f64_abs(x));
    scale = f64_choose(scale > 0x1p200, 0x1p200, scale);
    double anchor = f64_from(f64_bits(scale) & F64_INFINITY) * f.anchor;
    anchor = f64_from(f64_bits(anchor) | (f64_bits(x) & F64_SIGN)); /* for toward zero */
    double rounded = f64_abs((x + anchor) - anchor);
    double overflow = f64_abs(x * 0x1p1000 * 0x1p100);
    overflow = f64_choose(overflow == f64_from(F64_INFINITY), overflow, f.max_finite);
    rounded = f64_choose(rounded > f.max_finite, overflow, rounded);
    rounded = f64_from(f64_bits(rounded) | (f64_bits(x) & F64_SIGN));
    return (float)f64_choose(x == x, rounded, x);
}

/* Returns the bits of a float that the format represents exactly; NaN becomes the canonical NaN. */
LANES_INLINE uint16_t f16_pack(float x) {
    uint32_t sign = f32_bits(x) >> 16 & 0x8000, magnitude = f32_bits(x) & ~F32_SIGN;
    uint32_t half = (magnitude >> 13) - (112u << 10);
    half = u32_choose(magnitude < 0x38800000, f32_bits(f32_from(magnitude) + 0.5f) - 0x3f000000, half);
    half = u32_choose(magnitude >= F32_INFINITY, 0x7c00, half);
    return (uint16_t)u32_choose(magnitude > F32_INFINITY, F16_NAN, half | sign);
}

LANES_INLINE uint16_t bf16_pack(float x) { return (uint16_t)u32_choose(x == x, f32_bits(x) >> 16, F16_NAN); }

/* Rounds f32 to nearest even, for the results of half arithmetic: as half_round(), but in f32. */
LANES_INLINE float f16_round_nearest(float x) {
    float scale = f32_choose(f32_abs(x) < 0x1p-14f, 0x1p-14f, f32_abs(x));
    scale = f32_choose(scale > 0x1p20f, 0x1p20f, scale);
    float anchor = f32_from(f32_bits(scale) & F32_INFINITY) * 0x1.8p13f;
    float rounded = f32_abs((x + anchor) - anchor);
    rounded = f32_choose(rounded > 65504, f32_from(F32_INFINITY), rounded);
    rounded = f32_from(f32_bits(rounded) | (f32_bits(x) & F32_SIGN));
    return f32_choose(x == x, rounded, x);
}

LANES_INLINE float bf16_round_nearest(float x) {
    uint32_t bits = f32_bits(x);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    return f32_choose(x == x, f32_from(bits), x);
}
