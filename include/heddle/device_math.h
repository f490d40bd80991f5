// Mathematical functions of CUDA C for device code; device.h includes this file.
//
// One-instruction functions come first, then the approximate intrinsics (such as __expf, from the PTX .approx
// instructions), then accurate functions: argument reduction and a polynomial evaluated with fused multiply-adds. The
// polynomial coefficients are Chebyshev fits made for this file on the interval each function names. Errors are the
// largest measured against a double-precision reference. One ulp is a unit in the last place of the result. Left out:
// correctly rounded variants with directed rounding, Bessel and gamma functions, half precision.
#pragma once

#include "device.h"

#ifndef __NVCC__

// ---- One instruction each -----------------------------------------------------------------------------------------

HEDDLE_DEVICE float fabsf(float x) { return __nvvm_fabs_f(x); }
HEDDLE_DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
HEDDLE_DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
HEDDLE_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_DEVICE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
HEDDLE_DEVICE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
HEDDLE_DEVICE float floorf(float x) { return __nvvm_floor_f(x); }
HEDDLE_DEVICE float ceilf(float x) { return __nvvm_ceil_f(x); }
HEDDLE_DEVICE float truncf(float x) { return __nvvm_trunc_f(x); }
HEDDLE_DEVICE float rintf(float x) { return __nvvm_round_f(x); } // cvt.rni: nearest, ties to even
HEDDLE_DEVICE float copysignf(float x, float sign) { return __builtin_copysignf(x, sign); }

HEDDLE_DEVICE double fabs(double x) { return __nvvm_fabs_d(x); }
HEDDLE_DEVICE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
HEDDLE_DEVICE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
HEDDLE_DEVICE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
HEDDLE_DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
HEDDLE_DEVICE double floor(double x) { return __nvvm_floor_d(x); }
HEDDLE_DEVICE double ceil(double x) { return __nvvm_ceil_d(x); }
HEDDLE_DEVICE double trunc(double x) { return __nvvm_trunc_d(x); }
HEDDLE_DEVICE double rint(double x) { return __nvvm_round_d(x); }
HEDDLE_DEVICE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }

HEDDLE_DEVICE float min(float a, float b) { return fminf(a, b); }
HEDDLE_DEVICE float max(float a, float b) { return fmaxf(a, b); }
HEDDLE_DEVICE double min(double a, double b) { return fmin(a, b); }
HEDDLE_DEVICE double max(double a, double b) { return fmax(a, b); }

// ---- Operations with a named rounding mode, never fused with others ----------------------------------------------

HEDDLE_DEVICE float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
HEDDLE_DEVICE float __fadd_rz(float a, float b) { return __nvvm_add_rz_f(a, b); }
HEDDLE_DEVICE float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
HEDDLE_DEVICE float __fmul_rz(float a, float b) { return __nvvm_mul_rz_f(a, b); }
HEDDLE_DEVICE float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_DEVICE float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
HEDDLE_DEVICE float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
HEDDLE_DEVICE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
HEDDLE_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }
HEDDLE_DEVICE double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
HEDDLE_DEVICE double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
HEDDLE_DEVICE double __ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }

// ---- Approximate intrinsics ---------------------------------------------------------------------------------------

HEDDLE_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
HEDDLE_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
HEDDLE_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147182f; }
HEDDLE_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
HEDDLE_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269502f); }
HEDDLE_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192802f); }
HEDDLE_DEVICE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
HEDDLE_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
HEDDLE_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
HEDDLE_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }

// ---- Classification -----------------------------------------------------------------------------------------------

HEDDLE_DEVICE bool isnan(float x) { return x != x; }
HEDDLE_DEVICE bool isnan(double x) { return x != x; }
HEDDLE_DEVICE bool isinf(float x) { return fabsf(x) == __builtin_inff(); }
HEDDLE_DEVICE bool isinf(double x) { return fabs(x) == __builtin_inf(); }
HEDDLE_DEVICE bool isfinite(float x) { return fabsf(x) < __builtin_inff(); }
HEDDLE_DEVICE bool isfinite(double x) { return fabs(x) < __builtin_inf(); }

// ---- Exponential and logarithm, double ----------------------------------------------------------------------------

// 2^n for n in the range of normal numbers.
HEDDLE_DEVICE double heddle_exp2i(int n) { return __longlong_as_double((long long)(n + 1023) << 52); }
HEDDLE_DEVICE float heddle_exp2if(int n) { return __int_as_float((n + 127) << 23); }

// At most 1.0 ulp. x = n ln 2 + r with |r| <= ln 2 / 2; the scale is applied in two steps so that results may be
// subnormal.
HEDDLE_DEVICE double exp(double x) {
    double bounded = fmin(fmax(x, -746.0), 710.0);
    double n = rint(bounded * 0x1.71547652b82fep+0);
    double r = fma(n, -0x1.62e42fefa39efp-1, bounded);
    r = fma(n, -0x1.abc9e3b39803fp-56, r);
    double p = 0x1.1f731ea5352cap-29;
    p = fma(p, r, 0x1.af4e196027428p-26);
    p = fma(p, r, 0x1.27e4db57442fbp-22);
    p = fma(p, r, 0x1.71de021a90822p-19);
    p = fma(p, r, 0x1.a01a01a6dcaffp-16);
    p = fma(p, r, 0x1.a01a01abef415p-13);
    p = fma(p, r, 0x1.6c16c16c162ccp-10);
    p = fma(p, r, 0x1.11111111100cep-7);
    p = fma(p, r, 0x1.5555555555556p-5);
    p = fma(p, r, 0x1.5555555555557p-3);
    p = fma(p, r, 0.5);
    p = fma(p * r, r, r) + 1.0;
    int half = (int)n / 2;
    double result = p * heddle_exp2i(half) * heddle_exp2i((int)n - half);
    return isnan(x) ? x : result;
}

// At most 1.0 ulp. x = 2^n m with m in [2/3, 4/3); log m = 2 atanh(s), s = (m - 1) / (m + 1).
HEDDLE_DEVICE double log(double x) {
    bool subnormal = x < 0x1p-1022;
    long long bits = __double_as_longlong(subnormal ? x * 0x1p54 : x);
    long long excess = bits - 0x3fe5555555555555; // 2/3
    int n = (int)(excess >> 52);
    double m = __longlong_as_double(bits - ((long long)n << 52));
    double f = m - 1.0;
    double s = f / (m + 1.0);
    double z = s * s;
    double p = 0x1.001a723563bbcp-3;
    p = fma(p, z, 0x1.db56d8e3f4ad4p-4);
    p = fma(p, z, 0x1.1134eb62f23fcp-3);
    p = fma(p, z, 0x1.3b12cdc804a7cp-3);
    p = fma(p, z, 0x1.745d1a927d4ccp-3);
    p = fma(p, z, 0x1.c71c71c03e0c7p-3);
    p = fma(p, z, 0x1.2492492495dcbp-2);
    p = fma(p, z, 0x1.9999999999983p-2);
    p = fma(p, z, 0x1.5555555555555p-1);
    double k = subnormal ? n - 54 : n;
    // 2s = f - s f exactly in the limit: adding the small terms to f keeps the rounding error of s out of the result.
    double small = fma(p * z, s, fma(k, 0x1.abc9e3b39803fp-56, -s * f));
    double result = fma(k, 0x1.62e42fefa39efp-1, f + small);
    if (x > 0.0 && x < __builtin_inf())
        return result;
    return x == 0.0 ? -__builtin_inf() : x > 0.0 ? x : __builtin_nan("");
}

// ---- Exponential and logarithm, float -----------------------------------------------------------------------------

// At most 1.1 ulp.
HEDDLE_DEVICE float expf(float x) {
    float bounded = fminf(fmaxf(x, -104.0f), 89.0f);
    float n = rintf(bounded * 1.44269502f);
    float r = fmaf(n, -0x1.62e430p-1f, bounded);
    r = fmaf(n, 0x1.05c610p-29f, r);
    float p = 0.001392621347f;
    p = fmaf(p, r, 0.008363202972f);
    p = fmaf(p, r, 0.04166655444f);
    p = fmaf(p, r, 0.1666657685f);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p * r, r, r) + 1.0f;
    int half = (int)n / 2;
    float result = p * heddle_exp2if(half) * heddle_exp2if((int)n - half);
    return isnan(x) ? x : result;
}

// At most 1.0 ulp. x = 2^n m with m in [2/3, 4/3), f = m - 1, log m = f - f^2/2 + f^3 P(f).
HEDDLE_DEVICE float logf(float x) {
    bool subnormal = x < 0x1p-126f;
    int bits = __float_as_int(subnormal ? x * 0x1p24f : x);
    int n = (bits - 0x3f2aaaab) >> 23; // 2/3
    float f = __int_as_float(bits - (n << 23)) - 1.0f;
    float z = f * f;
    float p = 0.1133061739f;
    p = fmaf(p, f, -0.1242220058f);
    p = fmaf(p, f, 0.1091565479f);
    p = fmaf(p, f, -0.1228872161f);
    p = fmaf(p, f, 0.1429186718f);
    p = fmaf(p, f, -0.1667331625f);
    p = fmaf(p, f, 0.1999994835f);
    p = fmaf(p, f, -0.2499994419f);
    p = fmaf(p, f, 0.3333333333f);
    float k = (float)(subnormal ? n - 24 : n);
    float small = fmaf(p * f, z, fmaf(-0.5f, z, k * -0x1.05c610p-29f));
    float result = fmaf(k, 0x1.62e430p-1f, f + small);
    if (x > 0.0f && x < __builtin_inff())
        return result;
    return x == 0.0f ? -__builtin_inff() : x > 0.0f ? x : __builtin_nanf("");
}

HEDDLE_DEVICE float log2f(float x) { return (float)(log((double)x) * 0x1.71547652b82fep+0); } // at most 0.501 ulp
HEDDLE_DEVICE float exp2f(float x) { return (float)exp((double)x * 0x1.62e42fefa39efp-1); }   // at most 0.501 ulp

// At most 0.501 ulp; special cases as in C's pow. The inner logarithm and exponential are in double precision.
HEDDLE_DEVICE float powf(float x, float y) {
    if (x == 1.0f || y == 0.0f)
        return 1.0f;
    if (isnan(x) || isnan(y))
        return x + y;
    if (x == -1.0f && isinf(y))
        return 1.0f;
    bool integral = truncf(y) == y;
    bool odd = integral && fabsf(y) < 0x1p24f && ((int)y & 1);
    float magnitude = (float)exp((double)y * log((double)fabsf(x)));
    if (x < 0.0f && !integral && !isinf(x))
        return __builtin_nanf("");
    return __float_as_int(x) < 0 && odd ? -magnitude : magnitude;
}

// ---- Sine and cosine, float ---------------------------------------------------------------------------------------

// 2/pi in binary, 32 bits per word; the first word is the 32 bits left of the binary point.
static __constant__ const unsigned heddle_two_over_pi[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                                            0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

// Payne-Hanek reduction of large |x|: multiplies the mantissa by the bits of 2/pi that matter modulo 4, in integers.
static __device__ __noinline__ float heddle_reduce_large(float x, int *quadrant) {
    unsigned bits = __float_as_uint(x);
    unsigned long long mantissa = (bits & 0x7fffffu) | 0x800000u;
    int exponent = (int)(bits >> 23 & 0xffu) - 150; // |x| = mantissa * 2^exponent
    int start = exponent - 2 + 32;                  // bits before this one contribute multiples of 4
    int word = start >> 5, bit = start & 31;
    const unsigned *table = heddle_two_over_pi;
    unsigned long long high = (unsigned long long)table[word] << 32 | table[word + 1];
    unsigned long long low = (unsigned long long)table[word + 2] << 32 | table[word + 3];
    if (bit)
        high = high << bit | low >> (64 - bit);
    low <<= bit;
    unsigned long long product = high * mantissa + __umul64hi(low, mantissa); // in units of 2^-62, modulo 4
    unsigned nearest = (unsigned)((product + (1ull << 61)) >> 62);
    long long rest = (long long)(product - ((unsigned long long)nearest << 62));
    float r = (float)((double)rest * 0x1.921fb54442d18p-62);
    *quadrant = x < 0.0f ? -(int)nearest : (int)nearest;
    return x < 0.0f ? -r : r;
}

// x = quadrant * pi/2 + r, |r| slightly above pi/4 at most.
HEDDLE_DEVICE float heddle_reduce(float x, int *quadrant) {
    if (fabsf(x) > 48000.0f)
        return heddle_reduce_large(x, quadrant);
    float n = rintf(x * 0.636619747f);
    float r = fmaf(n, -0x1.921fb6p+0f, x);
    r = fmaf(n, 0x1.777a5cp-25f, r);
    r = fmaf(n, 0x1.ee59dap-50f, r);
    *quadrant = (int)n;
    return r;
}

HEDDLE_DEVICE float heddle_sin_quarter(float r) {
    float z = r * r;
    float p = fmaf(fmaf(2.724931405e-6f, z, -0.0001984008201f), z, 0.008333331866f);
    p = fmaf(p, z, -0.1666666666f);
    return fmaf(p * z, r, r);
}

HEDDLE_DEVICE float heddle_cos_quarter(float r) {
    float z = r * r;
    float p = fmaf(fmaf(2.454743721e-5f, z, -0.00138883007f), z, 0.04166666465f);
    return fmaf(p * z, z, fmaf(-0.5f, z, 1.0f));
}

// Sine when `turn` is 0, cosine when it is 1.
HEDDLE_DEVICE float heddle_sin_turned(float x, int turn) {
    if (!isfinite(x))
        return __builtin_nanf("");
    int quadrant;
    float r = heddle_reduce(x, &quadrant);
    quadrant += turn;
    float value = quadrant & 1 ? heddle_cos_quarter(r) : heddle_sin_quarter(r);
    return quadrant & 2 ? -value : value;
}

HEDDLE_DEVICE float sinf(float x) { return heddle_sin_turned(x, 0); } // at most 1.6 ulp
HEDDLE_DEVICE float cosf(float x) { return heddle_sin_turned(x, 1); } // at most 1.6 ulp

HEDDLE_DEVICE void sincosf(float x, float *sine, float *cosine) {
    *sine = sinf(x);
    *cosine = cosf(x);
}

// ---- Error function, float ----------------------------------------------------------------------------------------

// At most 1.1 ulp. Below 0.93 an odd polynomial; above, 1 - exp(-P(|x|)).
HEDDLE_DEVICE float erff(float x) {
    float a = fminf(fabsf(x), 3.95f), z = x * x;
    if (fabsf(x) < 0.93f) {
        float p = 8.212780533e-5f;
        p = fmaf(p, z, -0.0008105054511f);
        p = fmaf(p, z, 0.005197684914f);
        p = fmaf(p, z, -0.02685804248f);
        p = fmaf(p, z, 0.1128367104f);
        p = fmaf(p, z, -0.3761263215f);
        p = fmaf(p, z, 0.1283791665f);
        return fmaf(p, x, x);
    }
    float p = 4.204933637e-8f;
    p = fmaf(p, a, -2.551569456e-6f);
    p = fmaf(p, a, 5.464977995e-5f);
    p = fmaf(p, a, -0.0006424683318f);
    p = fmaf(p, a, 0.004910465791f);
    p = fmaf(p, a, -0.02674158147f);
    p = fmaf(p, a, 0.1105163517f);
    p = fmaf(p, a, 0.6314599856f);
    p = fmaf(p, a, 1.130404746f);
    p = fmaf(p, a, -0.0003541175114f);
    float value = copysignf(1.0f - expf(-p), x);
    return isnan(x) ? x : value;
}

#endif // __NVCC__
