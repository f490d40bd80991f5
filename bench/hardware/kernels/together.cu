/* Kernels in which threads work together: reductions, scans, histograms, sorting, transforms, tables, matrices. */
#include "kernels.cuh"
#include <mma.h>

KERNEL transpose_tiles(const float *a, float *b, int *c, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = a[(size_t)(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        b[(size_t)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

KERNEL reduce_shared(const float *a, float *b, int *c, int n) {
    __shared__ float part[512];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        b[blockIdx.x] = part[0];
}

KERNEL reduce_shuffles(const float *a, float *b, int *c, int n) {
    float most = -1e30f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        most = fmaxf(most, a[i] * a[i] - a[i]);
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (threadIdx.x % 32 == 0)
        atomicMax(&c[0], __float_as_int(most + 2.0f));
}

KERNEL reduce_atomics(const float *a, float *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&b[i & (n - 1)], a[i]);
}

KERNEL histogram_global(const float *a, float *b, int *c, int n) {
    unsigned *bins = (unsigned *)b;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[c[i] & 255], 1u);
}

KERNEL histogram_shared(const float *a, float *b, int *c, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[c[i] & 255], 1u);
    __syncthreads();
    atomicAdd(&((unsigned *)b)[threadIdx.x], bins[threadIdx.x]);
}

KERNEL count_wide(const float *a, float *b, int *c, int n) {
    unsigned long long *total = (unsigned long long *)b;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&total[c[i] & (n - 1)], (unsigned long long)c[i]);
}

/* Inclusive sums of a block's 1024 words. */
KERNEL scan_blocks(const float *a, float *b, int *c, int n) {
    __shared__ int sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, value = c[i] & 15;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, value, d);
        if (lane >= d)
            value += other;
    }
    if (lane == 31)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        int sum = sums[lane];
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d)
                sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    b[i] = value + (threadIdx.x >= 32 ? sums[threadIdx.x / 32 - 1] : 0);
}

/* Words below n go to the front, in any order. */
KERNEL compact(const float *a, float *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, first = 0;
    float value = a[i];
    unsigned kept = __ballot_sync(~0u, value < n * 0.01f);
    if (lane == 0 && kept)
        first = atomicAdd(&c[0], __popc(kept));
    first = __shfl_sync(~0u, first, 0);
    if (value < n * 0.01f)
        b[(unsigned)(first + __popc(kept & ((1u << lane) - 1))) & 0x3fffff] = value;
}

KERNEL hash_insert(const float *a, float *b, int *c, int n) {
    unsigned *table = (unsigned *)b, key = (unsigned)c[blockIdx.x * blockDim.x + threadIdx.x] | 1;
    unsigned slot = key * 2654435761u >> 12;
    for (int tries = 0; tries < 64; tries++) {
        unsigned found = atomicCAS(&table[slot], 0u, key);
        if (found == 0 || found == key)
            break;
        slot = (slot + 1) & ((1u << 20) - 1);
    }
}

KERNEL bitonic(const float *a, float *b, int *c, int n) {
    __shared__ float keys[2048];
    int base = blockIdx.x * 2048;
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        keys[i] = a[base + i];
    for (int k = 2; k <= 2048; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            __syncthreads();
            int i = 2 * threadIdx.x - (threadIdx.x & (j - 1));
            float x = keys[i], y = keys[i + j];
            if ((x > y) == ((i & k) == 0))
                keys[i] = y, keys[i + j] = x;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        b[base + i] = keys[i];
}

/* A block transforms 512 complex numbers in shared memory. */
KERNEL fft_block(const float *a, float *b, int *c, int n) {
    __shared__ float2 data[512];
    const float2 *from = (const float2 *)a + (size_t)blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        data[__brev(i) >> 23] = from[i];
    for (int half = 1; half < 512; half *= 2) {
        __syncthreads();
        int k = threadIdx.x & (half - 1), i = 2 * threadIdx.x - k;
        float s, t;
        __sincosf(-3.14159265f * k / half, &s, &t);
        float2 x = data[i], y = data[i + half], w = {y.x * t - y.y * s, y.x * s + y.y * t};
        data[i] = make_float2(x.x + w.x, x.y + w.y);
        data[i + half] = make_float2(x.x - w.x, x.y - w.y);
    }
    __syncthreads();
    float2 *to = (float2 *)b + (size_t)blockIdx.x * 512;
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        to[i] = data[i];
}

/* Decomposes a matrix of 64 x 64 without pivots. */
KERNEL lu_block(const float *a, float *b, int *c, int n) {
    __shared__ float m[64][65];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        m[i / 64][i % 64] = a[blockIdx.x * 4096 + i] + (i / 64 == i % 64 ? 64.0f : 0.0f);
    for (int k = 0; k < 63; k++) {
        __syncthreads();
        for (int i = k + 1 + threadIdx.x; i < 64; i += blockDim.x)
            m[i][k] /= m[k][k];
        __syncthreads();
        for (int i = k + 1 + threadIdx.x / 16; i < 64; i += blockDim.x / 16)
            for (int j = k + 1 + threadIdx.x % 16; j < 64; j += 16)
                m[i][j] -= m[i][k] * m[k][j];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        b[blockIdx.x * 4096 + i] = m[i / 64][i % 64];
}

/* Products of matrices of 16 x 16, one for each block. */
KERNEL gemm_small(const float *a, float *b, int *c, int n) {
    __shared__ float x[16][16], y[16][16];
    int i = threadIdx.x / 16, j = threadIdx.x % 16, base = blockIdx.x * 256;
    x[i][j] = a[base + threadIdx.x];
    y[i][j] = a[base + 256 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += x[i][k] * y[k][j];
    b[base + threadIdx.x] = sum;
}

/* n x n; tiles of 64 x 64, 4 x 4 results for a thread. */
KERNEL gemm_tiles(const float *a, float *b, int *c, int n) {
    __shared__ float x[16][64], y[16][64];
    float sum[4][4] = {};
    int row = blockIdx.y * 64, column = blockIdx.x * 64, ty = threadIdx.x / 16 * 4, tx = threadIdx.x % 16 * 4;
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            x[i % 16][i / 16] = a[(row + i / 16) * n + k0 + i % 16];
            y[i / 64][i % 64] = a[(k0 + i / 64) * n + column + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += x[k][ty + i] * y[k][tx + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            b[(row + ty + i) * n + column + tx + j] = sum[i][j];
}

/* n x n, every thread reads a row and a column. */
KERNEL gemm_plain(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 16 + threadIdx.x / 16;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * a[k * n + x];
    b[y * n + x] = sum;
}

/* A warp computes 16 x 16 results from halves. */
KERNEL gemm_matrix(const float *a, float *b, int *c, int n) {
    using namespace nvcuda::wmma;
    const half *from = (const half *)a;
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, col_major> y;
    fragment<accumulator, 16, 16, 16, float> sum;
    int row = (blockIdx.y * 4 + threadIdx.x / 32) * 16, column = blockIdx.x * 16;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(x, from + row * n + k, n);
        load_matrix_sync(y, from + column * n + k, n);
        mma_sync(sum, x, y, sum);
    }
    store_matrix_sync(b + row * n + column, sum, n, mem_row_major);
}

/* Edit distance of two strings of 256 letters, diagonal by diagonal. */
KERNEL edit_distance(const float *a, float *b, int *c, int n) {
    __shared__ int diagonal[3][258];
    int t = threadIdx.x, letter = c[blockIdx.x * 512 + t] & 3;
    for (int d = 0; d <= 512; d++) {
        int *now = diagonal[d % 3], *last = diagonal[(d + 2) % 3], *before = diagonal[(d + 1) % 3];
        int j = d - t;
        if (j == 0 || t == 0)
            now[t] = d;
        else if (j > 0 && j <= 256) {
            int same = (c[blockIdx.x * 512 + 256 + j - 1] & 3) == letter;
            now[t] = min(min(last[t], last[t - 1]) + 1, before[t - 1] + !same);
        }
        __syncthreads();
    }
    if (t == 255)
        b[blockIdx.x] = diagonal[512 % 3][t];
}
