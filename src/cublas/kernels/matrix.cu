// Kernels over one matrix: times a vector, sums and scalings of matrices, and triangular systems.
#include "cublas/kernels/element.cuh"
#include "cublas/kernels/vector.h"

enum { WARP = 32, THREADS = 128 };

template <typename T> INLINE T *batch_vector(const vector &x, long long batch) {
    return x.array ? (T *)x.array[batch] : (T *)x.base + batch * x.batch;
}

// ---- y = alpha A x + beta y

template <typename T> INLINE void finish_row(const matrix_vector &p, T *y, long long i, long long batch, wide<T> sum) {
    wide<T> alpha = load_scalar<wide<T>>(p.alpha, batch), beta = load_scalar<wide<T>>(p.beta, batch);
    wide<T> value = alpha * sum;
    T *to = &y[i * p.y.step];
    narrow(is_zero(beta) ? value : multiply_add(beta, widen(*to), value), to);
}

INLINE float join_warp(float x) {
    for (int lane = WARP / 2; lane > 0; lane /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}
INLINE double join_warp(double x) {
    for (int lane = WARP / 2; lane > 0; lane /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}
template <typename T> INLINE complex<T> join_warp(complex<T> x) { return {join_warp(x.re), join_warp(x.im)}; }

// Columns of A are in memory one after the other: a thread for each row.
template <typename T> INLINE void times_by_rows(const matrix_vector &p) {
    long long batch = blockIdx.y, i = (long long)blockIdx.x * THREADS + threadIdx.x;
    const T *a = (const T *)batch_base(p.a, batch, sizeof(T)), *x = batch_vector<T>(p.x, batch);
    if (i >= p.m)
        return;
    wide<T> sum = make<wide<T>>::from(0, 0);
    for (long long j = 0; j < p.n; j++)
        sum = multiply_add(load<T>(p.a, a, i, j), widen(x[j * p.x.step]), sum);
    finish_row<T>(p, batch_vector<T>(p.y, batch), i, batch, sum);
}

// Rows of A are: a warp for each.
template <typename T> INLINE void times_by_warps(const matrix_vector &p) {
    long long batch = blockIdx.y, i = ((long long)blockIdx.x * THREADS + threadIdx.x) / WARP;
    const T *a = (const T *)batch_base(p.a, batch, sizeof(T)), *x = batch_vector<T>(p.x, batch);
    if (i >= p.m)
        return;
    wide<T> sum = make<wide<T>>::from(0, 0);
    for (long long j = threadIdx.x % WARP; j < p.n; j += WARP)
        sum = multiply_add(load<T>(p.a, a, i, j), widen(x[j * p.x.step]), sum);
    sum = join_warp(sum);
    if (threadIdx.x % WARP == 0)
        finish_row<T>(p, batch_vector<T>(p.y, batch), i, batch, sum);
}

// ---- C = alpha A + beta B, and C = A diag(x)

template <typename T> INLINE void add(const matrix_sum &p) {
    wide<T> alpha = load_scalar<wide<T>>(p.alpha, 0), beta = load_scalar<wide<T>>(p.beta, 0);
    for (long long at = (long long)blockIdx.x * THREADS + threadIdx.x; at < p.m * p.n;
         at += (long long)gridDim.x * THREADS) {
        long long i = at % p.m, j = at / p.m;
        wide<T> value = make<wide<T>>::from(0, 0);
        if (!is_zero(alpha))
            value = alpha * load<T>(p.a, (const T *)p.a.base, i, j);
        if (!is_zero(beta))
            value = multiply_add(beta, load<T>(p.b, (const T *)p.b.base, i, j), value);
        narrow(value, &((T *)p.c.base)[i * p.c.row + j * p.c.col]);
    }
}

template <typename T> INLINE void scale(const matrix_sum &p) {
    for (long long at = (long long)blockIdx.x * THREADS + threadIdx.x; at < p.m * p.n;
         at += (long long)gridDim.x * THREADS) {
        long long i = at % p.m, j = at / p.m;
        wide<T> factor = widen(((const T *)p.x.base)[(p.scales_rows ? i : j) * p.x.step]);
        narrow(factor * load<T>(p.a, (const T *)p.a.base, i, j), &((T *)p.c.base)[i * p.c.row + j * p.c.col]);
    }
}

// ---- A X = alpha B: a block for each column of B. When an element of X is known, all threads take its part from the
// rest of the column.

template <typename T> INLINE void solve(const triangle &p) {
    for (long long batch = blockIdx.y; batch < p.n_batches; batch += gridDim.y) {
        const T *a = (const T *)batch_base(p.a, batch, sizeof(T));
        T *b = (T *)batch_base(p.b, batch, sizeof(T)) + blockIdx.x * p.b.col;
        T alpha = load_scalar<T>(p.alpha, batch);
        bool goes_down = p.a.fill == FILL_LOWER;
        for (long long i = threadIdx.x; i < p.m; i += THREADS)
            b[i * p.b.row] = is_zero(alpha) ? alpha : alpha * b[i * p.b.row];
        for (long long step = 0; step < p.m; step++) {
            long long k = goes_down ? step : p.m - 1 - step;
            __syncthreads();
            T x = b[k * p.b.row];
            if (!p.a.has_unit_diagonal)
                x = divide(x, load<T>(p.a, a, k, k));
            __syncthreads();
            if (threadIdx.x == 0)
                b[k * p.b.row] = x;
            long long first = goes_down ? k + 1 : 0, end = goes_down ? p.m : k;
            for (long long i = first + threadIdx.x; i < end; i += THREADS)
                b[i * p.b.row] = b[i * p.b.row] - load<T>(p.a, a, i, k) * x;
        }
        __syncthreads();
    }
}

#define TIMES(name, T)                                                                                                 \
    extern "C" __global__ void times_by_rows_##name(matrix_vector p) { times_by_rows<T>(p); }                          \
    extern "C" __global__ void times_by_warps_##name(matrix_vector p) { times_by_warps<T>(p); }
#define MATRIX(name, T)                                                                                                \
    TIMES(name, T)                                                                                                     \
    extern "C" __global__ void add_##name(matrix_sum p) { add<T>(p); }                                                 \
    extern "C" __global__ void scale_##name(matrix_sum p) { scale<T>(p); }                                             \
    extern "C" __global__ void solve_##name(triangle p) { solve<T>(p); }
MATRIX(f32, float)
MATRIX(f64, double)
MATRIX(c32, complex<float>)
MATRIX(c64, complex<double>)
TIMES(f16, half)
TIMES(bf16, bfloat)
