// Fourier transform of m x m points as two rounds of transforms of rows, with transpositions before, between and after
// them: the six-step form. One row per thread, in all kernels. A row is transformed in place by radix 2; the
// transposition before it puts the row's points in the order of their reversed bits.
#include "../common/tasks.cuh"

struct point {
    double re, im;
};

static __device__ __forceinline__ point multiply(point a, point b) {
    return point{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// out[i][j] = in[j][i], with what the flags say. Rows have `pitch` points from one to the next; roots[k] is
// exp(-2 pi i k / m^2).
template <bool is_reversed, bool is_twiddled>
static __device__ __forceinline__ void transpose(const point *in, point *out, const point *roots, int m, int log_m,
                                                 int pitch, int rejoins) {
#pragma unroll 1
    for (int i = first_task(); i < m; i += n_threads()) {
#pragma unroll 4
        for (int j = 0; j < m; j++) {
            point x = in[j * pitch + i];
            if (is_twiddled)
                x = multiply(x, roots[i * j]);
            out[i * pitch + (is_reversed ? __brev(j) >> (32 - log_m) : j)] = x;
        }
        end_task(rejoins);
    }
}

extern "C" __global__ void transpose_reversed(const point *in, point *out, const point *roots, int m, int log_m,
                                              int pitch, int rejoins) {
    transpose<true, false>(in, out, roots, m, log_m, pitch, rejoins);
}

extern "C" __global__ void transpose_twiddled(const point *in, point *out, const point *roots, int m, int log_m,
                                              int pitch, int rejoins) {
    transpose<true, true>(in, out, roots, m, log_m, pitch, rejoins);
}

extern "C" __global__ void transpose_plain(const point *in, point *out, const point *roots, int m, int log_m, int pitch,
                                           int rejoins) {
    transpose<false, false>(in, out, roots, m, log_m, pitch, rejoins);
}

// row_roots[k] is exp(-2 pi i k / m).
extern "C" __global__ void transform_rows(point *data, const point *row_roots, int m, int pitch, int rejoins) {
#pragma unroll 1
    for (int i = first_task(); i < m; i += n_threads()) {
        point *row = data + i * pitch;
#pragma unroll 1
        for (int half = 1, step = m / 2; half < m; half *= 2, step /= 2)
#pragma unroll 2
            for (int k = 0; k < m / 2; k++) {
                int j = k & (half - 1);
                point *low = row + 2 * k - j, *high = low + half;
                point even = *low, odd = multiply(*high, row_roots[j * step]);
                *low = point{even.re + odd.re, even.im + odd.im};
                *high = point{even.re - odd.re, even.im - odd.im};
            }
        end_task(rejoins);
    }
}
