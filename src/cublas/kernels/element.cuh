// Elements of matrices and vectors: how each type is loaded, computed with and stored. A kernel computes in float,
// double, int, or complex numbers of float or double. Elements of 8 and 16 bits exist only in memory.
#pragma once

#include <heddle/device.h>

#include "cublas/kernels/product.h"

#define INLINE static __device__ __forceinline__

struct half {
    ushort bits;
};
struct bfloat {
    ushort bits;
};
template <typename T> struct complex { T re, im; };

// ---- Conversions

INLINE float widen(half x) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
    return value;
}
INLINE float widen(bfloat x) { return __uint_as_float((uint)x.bits << 16); }
INLINE float widen(float x) { return x; }
INLINE double widen(double x) { return x; }
INLINE int widen(signed char x) { return x; }
INLINE int widen(int x) { return x; }
template <typename T> INLINE complex<T> widen(complex<T> x) { return x; }

INLINE half to_half(float x) {
    half value;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value.bits) : "f"(x));
    return value;
}
// Rounds to nearest, ties to even; a NaN stays one.
INLINE bfloat to_bfloat(float x) {
    uint bits = __float_as_uint(x);
    uint rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return {(ushort)(x != x ? 0x7fff : rounded)};
}

// The type that a kernel computes in.
template <typename T> struct wide_of { using type = decltype(widen(T{})); };
template <typename T> using wide = typename wide_of<T>::type;

template <typename T> struct real_of { using type = T; };
template <typename T> struct real_of<complex<T>> { using type = T; };
template <typename T> using real = typename real_of<T>::type;

INLINE void narrow(float x, float *to) { *to = x; }
INLINE void narrow(float x, half *to) { *to = to_half(x); }
INLINE void narrow(float x, bfloat *to) { *to = to_bfloat(x); }
INLINE void narrow(double x, double *to) { *to = x; }
INLINE void narrow(int x, int *to) { *to = x; }
template <typename T> INLINE void narrow(complex<T> x, complex<T> *to) { *to = x; }

// ---- Arithmetic

template <typename T> INLINE complex<T> operator+(complex<T> a, complex<T> b) { return {a.re + b.re, a.im + b.im}; }
template <typename T> INLINE complex<T> operator-(complex<T> a, complex<T> b) { return {a.re - b.re, a.im - b.im}; }
template <typename T> INLINE complex<T> operator*(complex<T> a, complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

INLINE float conjugate(float x) { return x; }
INLINE double conjugate(double x) { return x; }
INLINE int conjugate(int x) { return x; }
template <typename T> INLINE complex<T> conjugate(complex<T> x) { return {x.re, -x.im}; }

INLINE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
INLINE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
INLINE int multiply_add(int a, int b, int c) { return a * b + c; }
template <typename T> INLINE complex<T> multiply_add(complex<T> a, complex<T> b, complex<T> c) {
    return {multiply_add(a.re, b.re, multiply_add(-a.im, b.im, c.re)),
            multiply_add(a.re, b.im, multiply_add(a.im, b.re, c.im))};
}

INLINE float divide(float a, float b) { return a / b; }
INLINE double divide(double a, double b) { return a / b; }
template <typename T> INLINE complex<T> divide(complex<T> a, complex<T> b) {
    T scale = T(1) / (b.re * b.re + b.im * b.im);
    complex<T> product = a * conjugate(b);
    return {product.re * scale, product.im * scale};
}

template <typename T> struct make {
    static __device__ __forceinline__ T from(double re, double) { return (T)re; }
};
template <typename T> struct make<complex<T>> {
    static __device__ __forceinline__ complex<T> from(double re, double im) { return {(T)re, (T)im}; }
};

template <typename T> INLINE bool is_zero(T x) { return x == T(0); }
template <typename T> INLINE bool is_zero(complex<T> x) { return x.re == T(0) && x.im == T(0); }

// ---- Numbers of any type in memory

// Returns element `at` of an array of real numbers of type `type`.
INLINE double load_real(const void *array, int type, long long at) {
    switch (type) {
    case ELEMENT_F32:
        return ((const float *)array)[at];
    case ELEMENT_F64:
        return ((const double *)array)[at];
    case ELEMENT_F16:
        return widen(((const half *)array)[at]);
    case ELEMENT_BF16:
        return widen(((const bfloat *)array)[at]);
    case ELEMENT_I32:
        return ((const int *)array)[at];
    default:
        return 0;
    }
}

template <typename T> INLINE T load_scalar(const scalar &s, long long batch) {
    if (!s.at)
        return make<T>::from(s.re, s.im);
    long long at = batch * s.batch;
    if (s.type == ELEMENT_C32)
        return make<T>::from(((const complex<float> *)s.at)[at].re, ((const complex<float> *)s.at)[at].im);
    if (s.type == ELEMENT_C64)
        return make<T>::from(((const complex<double> *)s.at)[at].re, ((const complex<double> *)s.at)[at].im);
    return make<T>::from(load_real(s.at, s.type, at), 0);
}

INLINE void *batch_base(const matrix &x, long long batch, int bytes) {
    return x.array ? x.array[batch] : (char *)x.base + batch * x.batch * bytes;
}

// The element of an operand at (row, col) of op(X), as the kernel computes with it. Structured matrices have theirs in
// one triangle.
template <typename T> INLINE wide<T> load(const matrix &x, const T *base, long long row, long long col) {
    bool is_conjugated = x.is_conjugated;
    if (x.shape != SHAPE_GENERAL) {
        if (row == col && x.has_unit_diagonal)
            return make<wide<T>>::from(1, 0);
        if (x.fill == FILL_LOWER ? row < col : row > col) {
            if (x.shape == SHAPE_TRIANGULAR)
                return make<wide<T>>::from(0, 0);
            long long other = row;
            row = col;
            col = other;
            is_conjugated ^= x.shape == SHAPE_HERMITIAN;
        }
    }
    wide<T> value = widen(base[row * x.row + col * x.col]);
    return is_conjugated ? conjugate(value) : value;
}
