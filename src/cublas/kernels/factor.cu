// Batches of small matrices: factors with partial pivoting, and solutions with them. A block has a matrix.
#include "cublas/kernels/element.cuh"
#include "cublas/kernels/vector.h"

enum { THREADS = 128 };

INLINE float magnitude(float x) { return fabsf(x); }
INLINE double magnitude(double x) { return fabs(x); }
template <typename T> INLINE T magnitude(complex<T> x) { return magnitude(x.re) + magnitude(x.im); }

// The row of the largest element of column k at or below the diagonal.
template <typename T> INLINE int find_pivot(const factors &p, const T *a, int k) {
    __shared__ real<T> sizes[THREADS];
    __shared__ int rows[THREADS];
    real<T> largest = -1;
    int row = k;
    for (int i = k + threadIdx.x; i < p.n; i += THREADS) {
        real<T> size = magnitude(a[i * p.a.row + k * p.a.col]);
        if (size > largest) {
            largest = size;
            row = i;
        }
    }
    sizes[threadIdx.x] = largest;
    rows[threadIdx.x] = row;
    __syncthreads();
    for (unsigned half_of = THREADS / 2; half_of > 0; half_of /= 2) {
        if (threadIdx.x < half_of) {
            real<T> mine = sizes[threadIdx.x], other = sizes[threadIdx.x + half_of];
            if (other > mine || (other == mine && rows[threadIdx.x + half_of] < rows[threadIdx.x])) {
                sizes[threadIdx.x] = other;
                rows[threadIdx.x] = rows[threadIdx.x + half_of];
            }
        }
        __syncthreads();
    }
    int found = rows[0];
    __syncthreads();
    return found;
}

template <typename T> INLINE void factor(const factors &p) {
    long long batch = blockIdx.x;
    T *a = (T *)batch_base(p.a, batch, sizeof(T));
    const T *source = nullptr;
    if (p.source.base || p.source.array)
        source = (const T *)batch_base(p.source, batch, sizeof(T));
    for (long long at = threadIdx.x; source && at < p.n * p.n; at += THREADS)
        a[at % p.n * p.a.row + at / p.n * p.a.col] = source[at % p.n * p.source.row + at / p.n * p.source.col];
    int first_zero = 0;
    for (int k = 0; k < p.n; k++) {
        __syncthreads();
        int pivot = p.pivots ? find_pivot<T>(p, a, k) : k;
        if (p.pivots && threadIdx.x == 0)
            p.pivots[batch * p.n + k] = pivot + 1;
        for (int j = threadIdx.x; pivot != k && j < p.n; j += THREADS) {
            T kept = a[k * p.a.row + j * p.a.col];
            a[k * p.a.row + j * p.a.col] = a[pivot * p.a.row + j * p.a.col];
            a[pivot * p.a.row + j * p.a.col] = kept;
        }
        __syncthreads();
        T diagonal = a[k * p.a.row + k * p.a.col];
        if (is_zero(diagonal)) {
            first_zero = first_zero ? first_zero : k + 1;
            continue;
        }
        for (int i = k + 1 + threadIdx.x; i < p.n; i += THREADS)
            a[i * p.a.row + k * p.a.col] = divide(a[i * p.a.row + k * p.a.col], diagonal);
        __syncthreads();
        int left = (int)p.n - k - 1;
        for (int at = threadIdx.x; at < left * left; at += THREADS) {
            int i = k + 1 + at % left, j = k + 1 + at / left;
            a[i * p.a.row + j * p.a.col] =
                a[i * p.a.row + j * p.a.col] - a[i * p.a.row + k * p.a.col] * a[k * p.a.row + j * p.a.col];
        }
    }
    if (p.info && threadIdx.x == 0)
        p.info[batch] = first_zero;
}

// A thread has a right side.
template <typename T> INLINE void exchange(const factors &p, T *b, long long batch, bool is_backward) {
    for (int step = 0; p.pivots && step < p.n; step++) {
        int k = is_backward ? (int)p.n - 1 - step : step, other = p.pivots[batch * p.n + k] - 1;
        T kept = b[k * p.b.row];
        b[k * p.b.row] = b[other * p.b.row];
        b[other * p.b.row] = kept;
    }
}

template <typename T> INLINE void solve_column(const factors &p, const T *a, T *b, bool goes_down, bool is_unit) {
    for (int step = 0; step < p.n; step++) {
        int k = goes_down ? step : (int)p.n - 1 - step;
        T sum = b[k * p.b.row];
        for (int i = goes_down ? 0 : k + 1; i < (goes_down ? k : (int)p.n); i++) {
            T element = p.is_transposed ? a[i * p.a.row + k * p.a.col] : a[k * p.a.row + i * p.a.col];
            sum = sum - (p.is_conjugated ? conjugate(element) : element) * b[i * p.b.row];
        }
        T diagonal = a[k * p.a.row + k * p.a.col];
        b[k * p.b.row] = is_unit ? sum : divide(sum, p.is_conjugated ? conjugate(diagonal) : diagonal);
    }
}

template <typename T> INLINE void solve_factored(const factors &p) {
    long long batch = blockIdx.x;
    const T *a = (const T *)batch_base(p.a, batch, sizeof(T));
    for (long long j = threadIdx.x; j < p.n_right; j += THREADS) {
        T *b = (T *)batch_base(p.b, batch, sizeof(T)) + j * p.b.col;
        for (int i = 0; p.is_inverse && i < p.n; i++)
            b[i * p.b.row] = make<T>::from(i == j, 0);
        if (!p.is_transposed)
            exchange(p, b, batch, false);
        solve_column<T>(p, a, b, true, !p.is_transposed);
        solve_column<T>(p, a, b, false, p.is_transposed);
        if (p.is_transposed)
            exchange(p, b, batch, true);
    }
    if (p.info && threadIdx.x == 0) {
        int first_zero = 0;
        for (int k = (int)p.n - 1; k >= 0; k--)
            first_zero = is_zero(a[k * p.a.row + k * p.a.col]) ? k + 1 : first_zero;
        p.info[batch] = first_zero;
    }
}

#define FACTOR(name, T)                                                                                                \
    extern "C" __global__ void factor_##name(factors p) { factor<T>(p); }                                              \
    extern "C" __global__ void solve_factored_##name(factors p) { solve_factored<T>(p); }
FACTOR(f32, float)
FACTOR(f64, double)
FACTOR(c32, complex<float>)
FACTOR(c64, complex<double>)
