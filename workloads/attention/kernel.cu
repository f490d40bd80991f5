// Attention of one head: O = softmax(Q K^T / sqrt(d)) V, for rows of 32 numbers, without storing the scores. A thread
// has a row of Q and of O in registers. A block copies tiles of K and V to shared memory asynchronously, the next tile
// while it works on one. The softmax keeps the largest score so far: a thread that finds a larger one scales its sums
// down. expf is a polynomial here, the same to the last bit on every GPU, which ex2.approx is not. attention_mma does
// the same with matrix instructions.
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

// ---- matrix instructions
//
// A warp has 32 rows of Q, two fragments of 16. Scores come as fragments of 16 rows by 8 keys, of which a lane has two
// neighbours in each of two rows; weights in half precision are at once the left side of the second product.

enum { PITCH = DEPTH + 8, CHUNK = 8, PARTS = DEPTH / 16 };

struct half_tile {
    ushort key[KEYS][PITCH], value[KEYS][PITCH];
};

static __device__ __forceinline__ unsigned shared_address(const void *pointer) {
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void copy_chunk(ushort *to, const ushort *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// A chunk of each matrix per thread.
static __device__ __forceinline__ void copy_half_tile(struct half_tile *tile, const ushort *k, const ushort *v) {
    int row = threadIdx.x / (DEPTH / CHUNK), at = threadIdx.x % (DEPTH / CHUNK) * CHUNK;
    copy_chunk(&tile->key[row][at], k + row * DEPTH + at);
    copy_chunk(&tile->value[row][at], v + row * DEPTH + at);
    asm volatile("cp.async.commit_group;" ::: "memory");
}

static __device__ __forceinline__ void load_four(unsigned *to, const ushort *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

static __device__ __forceinline__ void load_four_transposed(unsigned *to, const ushort *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

static __device__ __forceinline__ void multiply(float *sum, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// The largest and the sum over the four lanes of a row.
static __device__ __forceinline__ float largest_of_row(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

static __device__ __forceinline__ float sum_of_row(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// 16 rows; a lane has two, with four of their sums in each of two fragments.
struct rows {
    unsigned q[PARTS][4];
    float sum[DEPTH / 8][4], total[2], largest[2];
};

static __device__ __forceinline__ void load_rows(struct rows *rows, const ushort *q, int row) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int part = 0; part < PARTS; part++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            rows->q[part][i] =
                *(const unsigned *)&q[(row + lane / 4 + i % 2 * 8) * DEPTH + 16 * part + i / 2 * 8 + lane % 4 * 2];
#pragma unroll
    for (int i = 0; i < DEPTH / 8; i++)
        rows->sum[i][0] = rows->sum[i][1] = rows->sum[i][2] = rows->sum[i][3] = 0;
    rows->total[0] = rows->total[1] = 0;
    rows->largest[0] = rows->largest[1] = -1e30f;
}

// Turns the scores of a row into weights; the row is number half of the lane's two.
static __device__ __forceinline__ void weigh_row(struct rows *rows, float score[2][4], int half, float scale) {
    float *s[4] = {&score[0][2 * half], &score[0][2 * half + 1], &score[1][2 * half], &score[1][2 * half + 1]};
    float largest = rows->largest[half];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        *s[i] *= scale;
        largest = fmaxf(largest, *s[i]);
    }
    largest = largest_of_row(largest);
    float factor = expf(rows->largest[half] - largest);
    rows->largest[half] = largest;
    rows->total[half] *= factor;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        *s[i] = expf(*s[i] - largest);
        rows->total[half] += *s[i];
    }
#pragma unroll
    for (int i = 0; i < DEPTH / 8; i++) {
        rows->sum[i][2 * half] *= factor;
        rows->sum[i][2 * half + 1] *= factor;
    }
}

static __device__ __forceinline__ void add_keys(struct rows *rows, const struct half_tile *tile, float scale) {
    int lane = threadIdx.x % 32;
    float score[2][4] = {};
#pragma unroll
    for (int j = 0; j < 2; j++) {
        unsigned key[4];
        load_four(key, &tile->key[8 * j + lane % 8][lane / 8 * 8]);
        multiply(score[j], rows->q[0], &key[0]);
        multiply(score[j], rows->q[1], &key[2]);
    }
    weigh_row(rows, score, 0, scale);
    weigh_row(rows, score, 1, scale);
    unsigned weight[4] = {pack(score[0][0], score[0][1]), pack(score[0][2], score[0][3]),
                          pack(score[1][0], score[1][1]), pack(score[1][2], score[1][3])};
#pragma unroll
    for (int i = 0; i < DEPTH / 16; i++) {
        unsigned value[4];
        load_four_transposed(value, &tile->value[lane / 8 % 2 * 8 + lane % 8][16 * i + lane / 16 * 8]);
        multiply(rows->sum[2 * i], weight, &value[0]);
        multiply(rows->sum[2 * i + 1], weight, &value[2]);
    }
}

static __device__ __forceinline__ void store_rows(struct rows *rows, float *o, int row) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float total = sum_of_row(rows->total[half]);
        float *to = &o[(row + lane / 4 + 8 * half) * DEPTH + lane % 4 * 2];
#pragma unroll
        for (int i = 0; i < DEPTH / 8; i++) {
            to[8 * i] = rows->sum[i][2 * half] / total;
            to[8 * i + 1] = rows->sum[i][2 * half + 1] / total;
        }
    }
}

// The same of half-precision Q, K and V.
extern "C" __global__ void attention_mma(const ushort *q, const ushort *k, const ushort *v, float *o, int n,
                                         float scale) {
    __shared__ __align__(16) struct half_tile tile[2];
    int row = blockIdx.x * THREADS + threadIdx.x / 32 * 32;
    struct rows rows[2];
    load_rows(&rows[0], q, row);
    load_rows(&rows[1], q, row + 16);
    copy_half_tile(&tile[0], k, v);
    for (int first = 0, now = 0; first < n; first += KEYS, now ^= 1) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        if (first + KEYS < n)
            copy_half_tile(&tile[now ^ 1], k + (first + KEYS) * DEPTH, v + (first + KEYS) * DEPTH);
        add_keys(&rows[0], &tile[now], scale);
        add_keys(&rows[1], &tile[now], scale);
    }
    store_rows(&rows[0], o, row);
    store_rows(&rows[1], o, row + 16);
}
