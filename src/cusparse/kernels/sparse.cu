// Products of sparse and dense matrices, and conversions. A thread computes one element of the result, from one line of
// the matrix. If the lines are those of the other dimension, a thread adds one line's products to the result
// (atomicAdd), so that the last digits depend on the order of threads.
#include <heddle/device.h>

#include "cusparse/kernels/sparse.h"

#define INLINE static __device__ __forceinline__
#define EACH(i, n)                                                                                                     \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)

INLINE int64_t load(const sparse_indices &indices, int64_t at) {
    return indices.is_wide ? ((const int64_t *)indices.base)[at] : ((const int *)indices.base)[at];
}

INLINE void store(const sparse_indices &indices, int64_t at, int64_t value) {
    if (indices.is_wide)
        ((int64_t *)indices.base)[at] = value;
    else
        ((int *)indices.base)[at] = (int)value;
}

// The first element of a line, or of a later one.
INLINE int64_t begin_of(const sparse_matrix &matrix, int64_t line) {
    if (matrix.offset.base)
        return load(matrix.offset, line) - matrix.first;
    int64_t low = 0, high = matrix.n_elements;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (load(matrix.line, middle) - matrix.first < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

template <typename T> INLINE T &at(const sparse_dense &dense, int64_t row, int64_t column) {
    return ((T *)dense.base)[row * dense.row_step + column * dense.column_step];
}

template <typename T> INLINE T factor(const void *pointer, double value) {
    return pointer ? *(const T *)pointer : (T)value;
}

// ---- Products

template <typename T> INLINE void multiply(const sparse_product &job) {
    const T *value = (const T *)job.matrix.value;
    T alpha = factor<T>(job.alpha, job.alpha_value), beta = factor<T>(job.beta, job.beta_value);
    EACH(i, job.n_rows * job.n_columns) {
        int64_t row = i / job.n_columns, column = i % job.n_columns, end = begin_of(job.matrix, row + 1);
        T sum = 0;
        for (int64_t k = begin_of(job.matrix, row); k < end; k++)
            sum += value[k] * at<T>(job.from, load(job.matrix.place, k) - job.matrix.first, column);
        T &to = at<T>(job.to, row, column);
        to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
    }
}

template <typename T> INLINE void scale(const sparse_product &job) {
    T beta = factor<T>(job.beta, job.beta_value);
    EACH(i, job.n_rows * job.n_columns) {
        T &to = at<T>(job.to, i / job.n_columns, i % job.n_columns);
        to = beta == 0 ? 0 : beta * to;
    }
}

template <typename T> INLINE void multiply_add(const sparse_product &job) {
    const T *value = (const T *)job.matrix.value;
    T alpha = factor<T>(job.alpha, job.alpha_value);
    EACH(i, job.matrix.n_lines * job.n_columns) {
        int64_t line = i / job.n_columns, column = i % job.n_columns, end = begin_of(job.matrix, line + 1);
        T from = alpha * at<T>(job.from, line, column);
        for (int64_t k = begin_of(job.matrix, line); k < end; k++)
            atomicAdd(&at<T>(job.to, load(job.matrix.place, k) - job.matrix.first, column), value[k] * from);
    }
}

// ---- Conversions

template <typename T> INLINE void expand(const sparse_conversion &job) {
    EACH(line, job.matrix.n_lines) {
        for (int64_t column = 0; column < job.n_columns; column++)
            at<T>(job.dense, line, column) = 0;
        for (int64_t k = begin_of(job.matrix, line), end = begin_of(job.matrix, line + 1); k < end; k++)
            at<T>(job.dense, line, load(job.matrix.place, k) - job.matrix.first) = ((const T *)job.matrix.value)[k];
    }
}

// The number of elements of each line, at the place of the next line's offset.
template <typename T> INLINE void count(const sparse_conversion &job) {
    EACH(line, job.matrix.n_lines) {
        int64_t n = 0;
        for (int64_t column = 0; column < job.n_columns; column++)
            n += at<T>(job.dense, line, column) != 0;
        store(job.matrix.offset, line + 1, n);
    }
}

template <typename T> INLINE void compress(const sparse_conversion &job) {
    EACH(line, job.matrix.n_lines) {
        int64_t k = begin_of(job.matrix, line);
        for (int64_t column = 0; column < job.n_columns; column++) {
            T value = at<T>(job.dense, line, column);
            if (value != 0) {
                store(job.matrix.place, k, column + job.matrix.first);
                ((T *)job.matrix.value)[k++] = value;
            }
        }
    }
}

#define KERNELS(T, letter)                                                                                             \
    extern "C" __global__ void sparse_multiply_##letter(sparse_product job) { multiply<T>(job); }                      \
    extern "C" __global__ void sparse_scale_##letter(sparse_product job) { scale<T>(job); }                            \
    extern "C" __global__ void sparse_multiply_add_##letter(sparse_product job) { multiply_add<T>(job); }              \
    extern "C" __global__ void sparse_expand_##letter(sparse_conversion job) { expand<T>(job); }                       \
    extern "C" __global__ void sparse_count_##letter(sparse_conversion job) { count<T>(job); }                         \
    extern "C" __global__ void sparse_compress_##letter(sparse_conversion job) { compress<T>(job); }
KERNELS(float, f)
KERNELS(double, d)

// Turns the numbers of elements into offsets. One thread: conversions are rare.
extern "C" __global__ void sparse_sum(sparse_conversion job) {
    store(job.matrix.offset, 0, job.matrix.first);
    int64_t sum = job.matrix.first;
    for (int64_t line = 1; line <= job.matrix.n_lines; line++) {
        sum += load(job.matrix.offset, line);
        store(job.matrix.offset, line, sum);
    }
}

// Offsets from the lines of the elements, and the lines from offsets.
extern "C" __global__ void sparse_offsets(sparse_conversion job) {
    sparse_matrix by_line = job.matrix;
    by_line.offset.base = 0;
    EACH(line, job.matrix.n_lines + 1)
    store(job.matrix.offset, line, begin_of(by_line, line) + job.matrix.first);
}

extern "C" __global__ void sparse_lines(sparse_conversion job) {
    EACH(line, job.matrix.n_lines)
    for (int64_t k = begin_of(job.matrix, line), end = begin_of(job.matrix, line + 1); k < end; k++)
        store(job.matrix.line, k, line + job.matrix.first);
}
