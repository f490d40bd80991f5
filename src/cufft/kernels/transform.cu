// Fourier transforms by passes between two arrays. Source: Govindaraju et al., "High performance discrete Fourier
// transforms on graphics processors" (Stockham's algorithm). A thread computes a transform of a few elements. For a
// radix without a function of its own, a large prime, it computes one element.
#include <heddle/device.h>

#include "cufft/kernels/transform.h"

#define INLINE static __device__ __forceinline__
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define N_THREADS (gridDim.x * blockDim.x)

template <typename T> struct complex { T x, y; };

template <typename T> INLINE complex<T> operator+(complex<T> a, complex<T> b) { return {a.x + b.x, a.y + b.y}; }
template <typename T> INLINE complex<T> operator-(complex<T> a, complex<T> b) { return {a.x - b.x, a.y - b.y}; }
template <typename T> INLINE complex<T> operator*(complex<T> a, complex<T> b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

// ---- Copies

// The packed element `at`: its transform and its place in each dimension.
struct place {
    uint32_t transform, i, j, k;
};

INLINE place find(const transform_copy &job, uint32_t at) {
    place p;
    p.k = at % job.n[2];
    at /= job.n[2];
    p.j = at % job.n[1];
    at /= job.n[1];
    p.i = at % job.n[0];
    p.transform = at / job.n[0];
    return p;
}

INLINE uint64_t index_of(const transform_layout &layout, place p) {
    return p.transform * layout.distance + ((p.i * layout.rows + p.j) * layout.columns + p.k) * layout.stride;
}

template <typename T> INLINE void gather(const transform_copy &job) {
    complex<T> *to = (complex<T> *)job.packed;
    for (uint32_t at = THREAD; at < job.n_elements; at += N_THREADS) {
        place p = find(job, at);
        if (job.layout.elements == TRANSFORM_REAL) {
            to[at] = {((const T *)job.layout.base)[index_of(job.layout, p)], 0};
            continue;
        }
        bool is_mirrored = job.layout.elements == TRANSFORM_HALF && p.k > job.n[2] / 2;
        if (is_mirrored) {
            p.i = p.i ? job.n[0] - p.i : 0;
            p.j = p.j ? job.n[1] - p.j : 0;
            p.k = job.n[2] - p.k;
        }
        complex<T> value = ((const complex<T> *)job.layout.base)[index_of(job.layout, p)];
        to[at] = {value.x, is_mirrored ? -value.y : value.y};
    }
}

template <typename T> INLINE void scatter(const transform_copy &job) {
    const complex<T> *from = (const complex<T> *)job.packed;
    for (uint32_t at = THREAD; at < job.n_elements; at += N_THREADS) {
        place p = find(job, at);
        uint64_t to = index_of(job.layout, p);
        if (job.layout.elements == TRANSFORM_REAL)
            ((T *)job.layout.base)[to] = from[at].x;
        else if (job.layout.elements == TRANSFORM_COMPLEX || p.k <= job.n[2] / 2)
            ((complex<T> *)job.layout.base)[to] = from[at];
    }
}

// ---- Passes

template <typename T> INLINE complex<T> root(const transform_pass &job, uint32_t k) {
    complex<T> value = ((const complex<T> *)job.roots)[k];
    return {value.x, job.is_inverse ? -value.y : value.y};
}

// By the definition, with the roots of the whole transform.
template <typename T, int N> struct small {
    INLINE void run(const transform_pass &job, complex<T> *v) {
        complex<T> w[N], sum[N];
#pragma unroll
        for (int k = 0; k < N; k++)
            w[k] = root<T>(job, job.n / N * k);
#pragma unroll
        for (int k = 0; k < N; k++) {
            sum[k] = v[0];
#pragma unroll
            for (int i = 1; i < N; i++)
                sum[k] = sum[k] + v[i] * w[i * k % N];
        }
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = sum[k];
    }
};

template <typename T> struct small<T, 2> {
    INLINE void run(const transform_pass &, complex<T> *v) {
        complex<T> a = v[0], b = v[1];
        v[0] = a + b;
        v[1] = a - b;
    }
};

template <typename T> struct small<T, 4> {
    INLINE void run(const transform_pass &job, complex<T> *v) {
        complex<T> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
        complex<T> turned = job.is_inverse ? complex<T>{-d.y, d.x} : complex<T>{d.y, -d.x};
        v[0] = a + c;
        v[1] = b + turned;
        v[2] = a - c;
        v[3] = b - turned;
    }
};

template <typename T> struct small<T, 8> {
    INLINE void run(const transform_pass &job, complex<T> *v) {
        complex<T> even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
        small<T, 4>::run(job, even);
        small<T, 4>::run(job, odd);
        odd[1] = odd[1] * root<T>(job, job.n / 8);
        odd[2] = job.is_inverse ? complex<T>{-odd[2].y, odd[2].x} : complex<T>{odd[2].y, -odd[2].x};
        odd[3] = odd[3] * root<T>(job, job.n / 8 * 3);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            v[k] = even[k] + odd[k];
            v[k + 4] = even[k] - odd[k];
        }
    }
};

// The first element of the line that contains a thread's elements; `at` becomes the thread's number in the line.
INLINE uint32_t line_of(const transform_pass &job, uint32_t n_per_line, uint32_t &at) {
    uint32_t in = at % job.inner, outer = at / job.inner / n_per_line;
    at = at / job.inner % n_per_line;
    return outer * job.n * job.inner + in;
}

template <typename T, int N> INLINE void pass(const transform_pass &job) {
    const complex<T> *from = (const complex<T> *)job.from;
    complex<T> *to = (complex<T> *)job.to;
    uint32_t n_parts = job.n / N, turn = job.n / (job.done * N);
    for (uint32_t t = THREAD; t < job.n_elements / N; t += N_THREADS) {
        uint32_t at = t, line = line_of(job, n_parts, at), k = at % job.done;
        complex<T> v[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            v[i] = from[line + (at + i * n_parts) * job.inner];
            if (i > 0 && job.done > 1)
                v[i] = v[i] * root<T>(job, i * k * turn);
        }
        small<T, N>::run(job, v);
        uint32_t first = at / job.done * job.done * N + k;
#pragma unroll
        for (int i = 0; i < N; i++)
            to[line + (first + i * job.done) * job.inner] = v[i];
    }
}

template <typename T> INLINE void pass_by_element(const transform_pass &job) {
    const complex<T> *from = (const complex<T> *)job.from;
    complex<T> *to = (complex<T> *)job.to;
    uint32_t n_parts = job.n / job.radix, turn = job.n / (job.done * job.radix);
    for (uint32_t t = THREAD; t < job.n_elements; t += N_THREADS) {
        uint32_t at = t, line = line_of(job, job.n, at), element = at / n_parts;
        at %= n_parts;
        uint32_t k = at % job.done;
        uint32_t step = (k * turn + element * n_parts) % job.n, angle = 0; // both at most n: the sum fits
        complex<T> sum = {0, 0};
        for (uint32_t i = 0; i < job.radix; i++) {
            sum = sum + from[line + (at + i * n_parts) * job.inner] * root<T>(job, angle);
            angle += step;
            angle -= angle >= job.n ? job.n : 0;
        }
        to[line + (at / job.done * job.done * job.radix + k + element * job.done) * job.inner] = sum;
    }
}

#define KERNELS(T, letter)                                                                                             \
    extern "C" __global__ void transform_gather_##letter(transform_copy job) { gather<T>(job); }                       \
    extern "C" __global__ void transform_scatter_##letter(transform_copy job) { scatter<T>(job); }                     \
    extern "C" __global__ void transform_2_##letter(transform_pass job) { pass<T, 2>(job); }                           \
    extern "C" __global__ void transform_3_##letter(transform_pass job) { pass<T, 3>(job); }                           \
    extern "C" __global__ void transform_4_##letter(transform_pass job) { pass<T, 4>(job); }                           \
    extern "C" __global__ void transform_5_##letter(transform_pass job) { pass<T, 5>(job); }                           \
    extern "C" __global__ void transform_7_##letter(transform_pass job) { pass<T, 7>(job); }                           \
    extern "C" __global__ void transform_8_##letter(transform_pass job) { pass<T, 8>(job); }                           \
    extern "C" __global__ void transform_any_##letter(transform_pass job) { pass_by_element<T>(job); }
KERNELS(float, f)
KERNELS(double, d)
