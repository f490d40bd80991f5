// The end of every matrix product: one element of D from the sum of its products.
#pragma once

#include "cublas/kernels/element.cuh"

// The elements of C and D are of these types for each type of sums. `at` counts elements.
template <typename T> INLINE T load_output(const void *array, int, long long at) { return ((const T *)array)[at]; }
template <> __device__ __forceinline__ float load_output<float>(const void *array, int type, long long at) {
    switch (type) {
    case ELEMENT_F16:
        return widen(((const half *)array)[at]);
    case ELEMENT_BF16:
        return widen(((const bfloat *)array)[at]);
    default:
        return ((const float *)array)[at];
    }
}

template <typename T> INLINE void store_output(void *array, int, long long at, T value) { ((T *)array)[at] = value; }
template <> __device__ __forceinline__ void store_output<float>(void *array, int type, long long at, float value) {
    switch (type) {
    case ELEMENT_F16:
        ((half *)array)[at] = to_half(value);
        break;
    case ELEMENT_BF16:
        ((bfloat *)array)[at] = to_bfloat(value);
        break;
    default:
        ((float *)array)[at] = value;
    }
}

INLINE int element_bytes(int type) {
    switch (type) {
    case ELEMENT_I8:
        return 1;
    case ELEMENT_F16:
    case ELEMENT_BF16:
        return 2;
    case ELEMENT_F64:
    case ELEMENT_C32:
        return 8;
    case ELEMENT_C64:
        return 16;
    default:
        return 4;
    }
}

// gelu(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its derivative.
INLINE float gelu_tanh(float x) {
    float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 1.0f - 2.0f / (1.0f + __expf(2.0f * inner));
}
INLINE float gelu(float x) { return 0.5f * x * (1.0f + gelu_tanh(x)); }
INLINE float gelu_derivative(float x) {
    float t = gelu_tanh(x);
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
}

template <typename T> struct output {
    void *c, *d;
    T alpha, beta;
    bool reads_c;
};

template <typename T> INLINE output<T> open_output(const product &p, long long batch) {
    output<T> out;
    out.alpha = load_scalar<T>(p.alpha, batch);
    out.beta = load_scalar<T>(p.beta, batch);
    out.reads_c = !is_zero(out.beta);
    out.c = out.reads_c ? batch_base(p.c, batch, element_bytes(p.c.type)) : nullptr;
    out.d = batch_base(p.d, batch, element_bytes(p.d.type));
    return out;
}

// Activations exist for sums in float alone.
template <typename T> INLINE T activate(const product &, long long, long long, long long, T value) { return value; }
template <>
__device__ __forceinline__ float activate<float>(const product &p, long long batch, long long i, long long j,
                                                 float value) {
    if (p.epilogue & EPILOGUE_BIAS)
        value += (float)load_real(batch_base(p.bias, batch, element_bytes(p.bias.type)), p.bias.type, i);
    if (!(p.epilogue & ~EPILOGUE_BIAS))
        return value;
    char *kept = (char *)p.kept.base;
    long long at = j * p.kept.col + batch * p.kept.batch + i; // for relu a bit, otherwise an element
    if (p.epilogue & EPILOGUE_RELU_BACK)
        return kept[at / 8] >> (at % 8) & 1 ? value : 0.0f;
    if (p.epilogue & EPILOGUE_GELU_BACK)
        return value * gelu_derivative((float)load_real(kept, p.kept.type, at));
    if (p.epilogue & EPILOGUE_RELU) {
        bool is_positive = value > 0;
        if (p.epilogue & EPILOGUE_KEEP) { // bits of 32 rows are one word
            uint bit = 1u << (at % 32);
            if (is_positive)
                atomicOr((uint *)kept + at / 32, bit);
            else
                atomicAnd((uint *)kept + at / 32, ~bit);
        }
        return is_positive ? value : 0.0f;
    }
    if (p.epilogue & EPILOGUE_GELU) {
        if (p.epilogue & EPILOGUE_KEEP)
            store_output<float>(kept, p.kept.type, at, value);
        return gelu(value);
    }
    return value;
}

template <typename T>
INLINE void put(const product &p, const output<T> &out, long long batch, long long i, long long j, T sum) {
    if (i >= p.m || j >= p.n || (p.fill == FILL_LOWER && i < j) || (p.fill == FILL_UPPER && i > j))
        return;
    T value = out.alpha * sum;
    if (out.reads_c)
        value = multiply_add(out.beta, load_output<T>(out.c, p.c.type, i * p.c.row + j * p.c.col), value);
    store_output<T>(out.d, p.d.type, i * p.d.row + j * p.d.col, activate<T>(p, batch, i, j, value));
}

// Sums of integers: D is int, or float with scalars in float.
template <>
__device__ __forceinline__ void put<int>(const product &p, const output<int> &out, long long batch, long long i,
                                         long long j, int sum) {
    if (i >= p.m || j >= p.n)
        return;
    long long at = i * p.d.row + j * p.d.col, c_at = i * p.c.row + j * p.c.col;
    if (p.d.type == ELEMENT_I32) {
        int value = out.alpha * sum;
        if (out.reads_c)
            value += out.beta * ((const int *)out.c)[c_at];
        ((int *)out.d)[at] = value;
        return;
    }
    float alpha = load_scalar<float>(p.alpha, batch), beta = load_scalar<float>(p.beta, batch);
    const float *c = (const float *)batch_base(p.c, batch, 4);
    float value = alpha * (float)sum;
    ((float *)out.d)[at] = beta != 0 ? fmaf(beta, c[c_at], value) : value;
}

// The sums of a block's tile, column by column, wait in shared memory until neighbouring threads store neighbours.
template <typename T, int TILE, int THREADS>
INLINE void put_tile(const product &p, long long batch, long long row0, long long col0, const T *sums) {
    output<T> out = open_output<T>(p, batch);
    bool runs_along_rows = p.d.row == 1;
#pragma unroll 1
    for (int at = threadIdx.x; at < TILE * TILE; at += THREADS) {
        int i = runs_along_rows ? at % TILE : at / TILE, j = runs_along_rows ? at / TILE : at % TILE;
        put<T>(p, out, batch, row0 + i, col0 + j, sums[j * (TILE + 1) + i]);
    }
    __syncthreads();
}
