// Matrix products with the ALU. A block computes a tile of D from tiles of A and B in shared memory, DEPTH along k at a
// time; the elements of the next tiles are in registers meanwhile. Each of the 16 x 16 threads sums EACH x EACH
// elements of D.
#include "cublas/kernels/epilogue.cuh"

enum { SIDE = 16, THREADS = SIDE * SIDE };

// Threads that are neighbours load elements that are neighbours in memory: along `along` or along k.
template <typename T, int TILE, int DEPTH> struct loader {
    enum { EACH = TILE * DEPTH / THREADS };
    wide<T> value[EACH];
    bool runs_along_k;

    __device__ __forceinline__ void place(int s, int &along, int &k) const {
        int t = threadIdx.x + s * THREADS;
        along = runs_along_k ? t / DEPTH : t % TILE;
        k = runs_along_k ? t % DEPTH : t / TILE;
    }
    // of A: rows from `first`, limit m; of B: columns
    __device__ __forceinline__ void fetch(const matrix &x, const T *base, bool is_a, long long first, long long limit,
                                          long long at_k, long long k_limit) {
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            int along, k;
            place(s, along, k);
            long long i = first + along, j = at_k + k;
            value[s] = make<wide<T>>::from(0, 0);
            if (i < limit && j < k_limit)
                value[s] = is_a ? load<T>(x, base, i, j) : load<T>(x, base, j, i);
        }
    }
    __device__ __forceinline__ void store(wide<T> tile[DEPTH][TILE + 1]) const {
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            int along, k;
            place(s, along, k);
            tile[k][along] = value[s];
        }
    }
};

template <typename T, int EACH, int DEPTH> INLINE void multiply(const product &p) {
    enum { TILE = EACH * SIDE };
    using W = wide<T>;
    __shared__ union {
        struct {
            W a[DEPTH][TILE + 1], b[DEPTH][TILE + 1];
        } tiles;
        W sums[TILE * (TILE + 1)];
    } shared;
    W(*a_tile)[TILE + 1] = shared.tiles.a, (*b_tile)[TILE + 1] = shared.tiles.b;
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    long long row0 = (long long)blockIdx.x * TILE, col0 = (long long)blockIdx.y * TILE;
    for (long long batch = blockIdx.z; batch < p.n_batches; batch += gridDim.z) {
        const T *a = (const T *)batch_base(p.a, batch, sizeof(T)), *b = (const T *)batch_base(p.b, batch, sizeof(T));
        loader<T, TILE, DEPTH> a_next, b_next;
        a_next.runs_along_k = p.a.row != 1;
        b_next.runs_along_k = p.b.row == 1;
        W sum[EACH][EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sum[i][j] = make<W>::from(0, 0);
        a_next.fetch(p.a, a, true, row0, p.m, 0, p.k);
        b_next.fetch(p.b, b, false, col0, p.n, 0, p.k);
        for (long long at = 0; at < p.k; at += DEPTH) {
            a_next.store(a_tile);
            b_next.store(b_tile);
            __syncthreads();
            if (at + DEPTH < p.k) {
                a_next.fetch(p.a, a, true, row0, p.m, at + DEPTH, p.k);
                b_next.fetch(p.b, b, false, col0, p.n, at + DEPTH, p.k);
            }
#pragma unroll
            for (int k = 0; k < DEPTH; k++) {
                W left[EACH], right[EACH];
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    left[i] = a_tile[k][x + i * SIDE];
                    right[i] = b_tile[k][y + i * SIDE];
                }
#pragma unroll
                for (int i = 0; i < EACH; i++)
#pragma unroll
                    for (int j = 0; j < EACH; j++)
                        sum[i][j] = multiply_add(left[i], right[j], sum[i][j]);
            }
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < EACH; j++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
                shared.sums[(y + j * SIDE) * (TILE + 1) + x + i * SIDE] = sum[i][j];
        __syncthreads();
        put_tile<W, TILE, THREADS>(p, batch, row0, col0, shared.sums);
    }
}

#define PRODUCT(name, T, each, depth)                                                                                  \
    extern "C" __global__ void product_##name(product p) { multiply<T, each, depth>(p); }
PRODUCT(f32, float, 4, 8)
PRODUCT(f16, half, 4, 8)
PRODUCT(bf16, bfloat, 4, 8)
PRODUCT(i8, signed char, 4, 8)
PRODUCT(f64, double, 2, 16)
PRODUCT(c32, complex<float>, 2, 16)
PRODUCT(c64, complex<double>, 2, 8)
