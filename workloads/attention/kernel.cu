// Attention of one head: O = softmax(Q K^T / sqrt(d)) V, for rows of 32 numbers, without storing the scores. A thread
// has a row of Q and of O in registers. A block copies tiles of K and V to shared memory asynchronously, the next tile
// while it works on one. The softmax keeps the largest score so far: a thread that finds a larger one scales its sums
// down. expf is a polynomial here, the same to the last bit on every GPU, which ex2.approx is not.
#include <heddle/device.h>

enum { DEPTH = 32, KEYS = 16, THREADS = 64, WORDS = 4 };

struct tile {
    float key[KEYS][DEPTH], value[KEYS][DEPTH];
};

static __device__ __forceinline__ void copy_async(float *to, const float *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

static __device__ __forceinline__ void copy_tile(struct tile *tile, const float *k, const float *v) {
    for (int i = threadIdx.x * WORDS; i < KEYS * DEPTH; i += THREADS * WORDS) {
        copy_async(&tile->key[0][0] + i, k + i);
        copy_async(&tile->value[0][0] + i, v + i);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// The state of a row's softmax.
struct row {
    float q[DEPTH], sum[DEPTH], total, largest;
};

static __device__ __forceinline__ void add_key(struct row *row, const float *key, const float *value) {
    float score = 0;
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
        score = fmaf(row->q[i], key[i], score);
    if (score > row->largest) {
        float scale = expf(row->largest - score);
        row->largest = score;
        row->total *= scale;
#pragma unroll
        for (int i = 0; i < DEPTH; i++)
            row->sum[i] *= scale;
    }
    float weight = expf(score - row->largest);
    row->total += weight;
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
        row->sum[i] = fmaf(weight, value[i], row->sum[i]);
}

// n is a multiple of THREADS; there is a thread for every row.
extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *o, int n, float scale) {
    __shared__ __align__(16) struct tile tile[2];
    int at = (blockIdx.x * THREADS + threadIdx.x) * DEPTH;
    struct row row;
#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
        row.q[i] = q[at + i] * scale;
        row.sum[i] = 0;
    }
    row.total = 0;
    row.largest = -1e30f;
    copy_tile(&tile[0], k, v);
    for (int first = 0, now = 0; first < n; first += KEYS, now ^= 1) {
        if (first + KEYS < n) {
            copy_tile(&tile[now ^ 1], k + (first + KEYS) * DEPTH, v + (first + KEYS) * DEPTH);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int j = 0; j < KEYS; j++)
            add_key(&row, tile[now].key[j], tile[now].value[j]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
        o[at + i] = row.sum[i] / row.total;
}
