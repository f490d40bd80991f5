/* Kernels of learning and of data analysis, and launches that are small. */
#include "kernels.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* Rows of n numbers get mean 0 and variance 1; a block has a row. */
KERNEL normalise(const float *a, float *b, int *c, int n) {
    __shared__ float part[2][8];
    const float4 *row = (const float4 *)(a + (size_t)blockIdx.x * n);
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = row[i];
        sum += v.x + v.y + v.z + v.w;
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(~0u, sum, d);
        squares += __shfl_xor_sync(~0u, squares, d);
    }
    if (threadIdx.x % 32 == 0)
        part[0][threadIdx.x / 32] = sum, part[1][threadIdx.x / 32] = squares;
    __syncthreads();
    sum = squares = 0;
    for (int w = 0; w < 8; w++)
        sum += part[0][w], squares += part[1][w];
    float mean = sum / n, scale = rsqrtf(squares / n - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        float4 v = row[i];
        v.x = (v.x - mean) * scale, v.y = (v.y - mean) * scale, v.z = (v.z - mean) * scale, v.w = (v.w - mean) * scale;
        ((float4 *)(b + (size_t)blockIdx.x * n))[i] = v;
    }
}

/* Attention of one query for each warp over n keys of 64 numbers, with a running maximum. */
KERNEL attend(const float *a, float *b, int *c, int n) {
    int warp = THREAD / 32, lane = threadIdx.x % 32;
    const float2 *keys = (const float2 *)a, *values = (const float2 *)(a + (1 << 20));
    float2 query = ((const float2 *)(a + (1 << 21)))[warp * 32 + lane], sum = {0, 0};
    float most = -1e30f, total = 0;
    for (int k = 0; k < n; k++) {
        float2 key = keys[k * 32 + lane];
        float score = query.x * key.x + query.y * key.y;
        for (int d = 16; d; d /= 2)
            score += __shfl_xor_sync(~0u, score, d);
        float now = fmaxf(most, score), shrink = __expf(most - now), weight = __expf(score - now);
        float2 value = values[k * 32 + lane];
        sum.x = sum.x * shrink + weight * value.x, sum.y = sum.y * shrink + weight * value.y;
        total = total * shrink + weight;
        most = now;
    }
    ((float2 *)b)[warp * 32 + lane] = make_float2(sum.x / total, sum.y / total);
}

/* Sums n rows of 128 numbers that random numbers choose; a warp has a sum. */
KERNEL bags(const float *a, float *b, int *c, int n) {
    int warp = THREAD / 32, lane = threadIdx.x % 32;
    float4 sum = {0, 0, 0, 0};
    for (int k = 0; k < n; k++) {
        int row = c[warp * n + k] & 32767;
        float4 v = ((const float4 *)a)[row * 32 + lane];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    ((float4 *)b)[warp * 32 + lane] = sum;
}

/* The n largest of 1024 numbers, one after the other. */
KERNEL largest(const float *a, float *b, int *c, int n) {
    __shared__ float values[1024];
    __shared__ unsigned long long best;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        values[i] = a[blockIdx.x * 1024 + i];
    for (int k = 0; k < n; k++) {
        if (threadIdx.x == 0)
            best = 0;
        __syncthreads();
        unsigned long long mine = 0;
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
            unsigned long long one = (unsigned long long)__float_as_uint(values[i]) << 32 | i;
            mine = one > mine ? one : mine;
        }
        for (int d = 16; d; d /= 2) {
            unsigned long long other = __shfl_xor_sync(~0u, mine, d);
            mine = other > mine ? other : mine;
        }
        if (threadIdx.x % 32 == 0)
            atomicMax(&best, mine);
        __syncthreads();
        if (threadIdx.x == 0) {
            b[blockIdx.x * n + k] = __uint_as_float((unsigned)(best >> 32));
            values[best & 1023] = 0;
        }
        __syncthreads();
    }
}

/* Turns a picture of n x n bytes. */
KERNEL turn_bytes(const float *a, float *b, int *c, int n) {
    __shared__ unsigned char tile[64][68];
    const unsigned *from = (const unsigned *)c;
    unsigned *to = (unsigned *)b;
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int j = y; j < 64; j += 16) {
        unsigned word = from[((blockIdx.y * 64 + j) * n + blockIdx.x * 64) / 4 + x];
        for (int k = 0; k < 4; k++)
            tile[j][4 * x + k] = word >> 8 * k;
    }
    __syncthreads();
    for (int j = y; j < 64; j += 16) {
        unsigned word = 0;
        for (int k = 0; k < 4; k++)
            word |= (unsigned)tile[4 * x + k][j] << 8 * k;
        to[((blockIdx.x * 64 + j) * n + blockIdx.y * 64) / 4 + x] = word;
    }
}

/* A sparse matrix of n rows with 16 places each, stored column by column. */
KERNEL sparse_padded(const float *a, float *b, int *c, int n) {
    int row = THREAD;
    float sum = 0;
    for (int k = 0; k < 16; k++) {
        int column = c[k * n + row] & (n - 1);
        if (column < n - n / 4)
            sum += a[k * n + row] * a[(1 << 21) + column];
    }
    b[row] = sum;
}

/* The same as a list of row, column, value. */
KERNEL sparse_list(const float *a, float *b, int *c, int n) {
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        int row = (i >> 4) + (c[i] >> 20 & 3), column = c[i] & 0xffff;
        atomicAdd(&b[row], a[i] * a[(1 << 21) + column]);
    }
}

/* The four nearest of n points for each point, kept in order. */
KERNEL nearest(const float *a, float *b, int *c, int n) {
    __shared__ float4 tile[128];
    float4 me = ((const float4 *)a)[THREAD];
    float best[4] = {1e30f, 1e30f, 1e30f, 1e30f};
    for (int from = 0; from < n; from += 128) {
        tile[threadIdx.x] = ((const float4 *)a)[65536 + from + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z, d = dx * dx + dy * dy + dz * dz;
            if (d < best[3]) {
                best[3] = d;
#pragma unroll
                for (int k = 3; k > 0; k--)
                    if (best[k] < best[k - 1]) {
                        float swap = best[k];
                        best[k] = best[k - 1], best[k - 1] = swap;
                    }
            }
        }
        __syncthreads();
    }
    b[THREAD] = best[0] + best[1] + best[2] + best[3];
}

/* How many of n points are near each point, until 16 are found. */
KERNEL near_enough(const float *a, float *b, int *c, int n) {
    const float2 *point = (const float2 *)a;
    float2 me = point[THREAD];
    int count = 0;
    for (int j = 0; j < n && count < 16; j++) {
        float dx = point[j].x - me.x, dy = point[j].y - me.y;
        if (dx * dx + dy * dy < 0.02f)
            count++;
    }
    b[THREAD] = count;
}

/* Sums by groups of 16 threads, and the block's by a group of the whole. */
KERNEL group_sums(const float *a, float *b, int *c, int n) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    __shared__ float part[16];
    float sum = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x)
        sum += cg::reduce(tile, a[i], cg::greater<float>());
    float total = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0)
        part[tile.meta_group_rank()] = total;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        total = cg::reduce(tile, part[tile.thread_rank()], cg::plus<float>());
        if (tile.thread_rank() == 0)
            b[blockIdx.x] = total;
    }
}

/* Products of tiles that are copied in while the last ones are in use. n x n; 32 x 32 results a block of 256. */
KERNEL product_pipelined(const float *a, float *b, int *c, int n) {
    __shared__ __align__(16) float x[2][32][36], y[2][32][32];
    int t = threadIdx.x, row = t / 8, column = t % 8 * 4;
    float4 sum = {0, 0, 0, 0};
    const float *from_x = a + (blockIdx.y * 32 + row) * n + column, *from_y = a + row * n + blockIdx.x * 32 + column;
    __pipeline_memcpy_async(&x[0][row][column], from_x, 16);
    __pipeline_memcpy_async(&y[0][row][column], from_y, 16);
    __pipeline_commit();
    for (int k = 0; k < n; k += 32) {
        int now = k / 32 & 1;
        if (k + 32 < n) {
            __pipeline_memcpy_async(&x[now ^ 1][row][column], from_x + k + 32, 16);
            __pipeline_memcpy_async(&y[now ^ 1][row][column], from_y + (k + 32) * n, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            float left = x[now][row][i];
            float4 right = *(const float4 *)&y[now][i][column];
            sum.x += left * right.x, sum.y += left * right.y, sum.z += left * right.z, sum.w += left * right.w;
        }
        __syncthreads();
    }
    *(float4 *)&b[(blockIdx.y * 32 + row) * n + blockIdx.x * 32 + column] = sum;
}

/* Halves by matrix units from shared memory: a block of 4 warps has 32 x 32 results. */
KERNEL product_halves(const float *a, float *b, int *c, int n) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) half x[32][40], y[32][40];
    const half *from = (const half *)a;
    int t = threadIdx.x, warp = t / 32, row = warp / 2 * 16, column = warp % 2 * 16;
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, row_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 32) {
        *(uint4 *)&x[t / 4][t % 4 * 8] = *(const uint4 *)&from[(blockIdx.y * 32 + t / 4) * n + k + t % 4 * 8];
        *(uint4 *)&y[t / 4][t % 4 * 8] = *(const uint4 *)&from[(k + t / 4) * n + blockIdx.x * 32 + t % 4 * 8];
        __syncthreads();
        for (int i = 0; i < 32; i += 16) {
            load_matrix_sync(left, &x[row][i], 40);
            load_matrix_sync(right, &y[i][column], 40);
            mma_sync(sum, left, right, sum);
        }
        __syncthreads();
    }
    store_matrix_sync(&b[(blockIdx.y * 32 + row) * n + blockIdx.x * 32 + column], sum, n, mem_row_major);
}

/* A sum in one launch: the last block to finish adds up the others' parts. */
KERNEL last_block(const float *a, float *b, int *c, int n) {
    __shared__ float part[256];
    __shared__ bool is_last;
    float sum = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * a[i];
    for (int round = 0; round < 2; round++) {
        part[threadIdx.x] = sum;
        __syncthreads();
        for (int d = 128; d; d /= 2) {
            if (threadIdx.x < d)
                part[threadIdx.x] += part[threadIdx.x + d];
            __syncthreads();
        }
        if (round) {
            if (threadIdx.x == 0)
                b[0] = part[0], ((int *)b)[1] = 0;
            return;
        }
        if (threadIdx.x == 0) {
            b[2 + blockIdx.x] = part[0];
            __threadfence();
            is_last = atomicAdd((int *)b + 1, 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last)
            return;
        sum = 0;
        for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
            sum += ((volatile float *)b)[2 + i];
        __syncthreads();
    }
}

/* One block does everything: distances of all pairs of n nodes by way of each node. */
KERNEL all_pairs(const float *a, float *b, int *c, int n) {
    for (int i = threadIdx.x; i < n * n; i += blockDim.x)
        b[i] = a[i];
    for (int k = 0; k < n; k++) {
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            float way = b[i / n * n + k] + b[k * n + i % n];
            if (way < b[i])
                b[i] = way;
        }
    }
}

/* A few blocks walk over a large array. */
KERNEL few_blocks(const float *a, float *b, int *c, int n) {
    int steps = 0;
    float sum = 0, most = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x, steps++) {
        float v = a[i] * 1.25f + 0.5f;
        sum += v * v;
        most = fmaxf(most, v);
        if (steps % 4 == 3)
            b[i / 4] = sum, sum *= 0.5f;
    }
    b[(1 << 21) + THREAD] = sum + most;
}

/* Short launches, one after the other: half of the numbers wait for the other half. */
KERNEL tiny(const float *a, float *b, int *c, int n, const int *d, int step) {
    int i = 2 * THREAD + (step & 1);
    if (i > 0 && i < n - 1)
        b[i] = 0.5f * (b[i - 1] + b[i + 1]) + a[i];
}

/* A layer of 3 x 3 filters: 16 channels in, 16 out, on n x n. */
KERNEL filters(const float *a, float *b, int *c, int n) {
    __shared__ float weight[16 * 9];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, out = blockIdx.z;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 144; i += 256)
        weight[i] = a[(1 << 21) + out * 144 + i] - 0.5f;
    __syncthreads();
    float sum = 0;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        for (int k = 0; k < 16; k++) {
            const float *plane = a + k * n * n + y * n + x;
#pragma unroll
            for (int j = 0; j < 9; j++)
                sum += plane[(j / 3 - 1) * n + j % 3 - 1] * weight[k * 9 + j];
        }
    b[(out * n + y) * n + x] = fmaxf(sum, 0.0f);
}

/* The largest of 2 x 2, and where it was. */
KERNEL pool(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float best = -1e30f;
    int where = 0;
    for (int k = 0; k < 4; k++) {
        float v = a[(2 * y + k / 2) * n + 2 * x + k % 2];
        if (v > best)
            best = v, where = k;
    }
    b[y * n / 2 + x] = best;
    ((unsigned char *)c)[y * n / 2 + x] = where;
}
