// Attention of several heads: O = softmax(Q K^T / 8) V for rows of 64 numbers of half precision, by warps with
// different jobs. A block has 128 rows of Q of one head. One thread of the first warp group, the producer, copies tiles
// of 64 keys and values to shared memory, up to STAGES ahead. The two other groups, the consumers, have 64 rows each:
// they multiply Q with the keys, turn the scores into weights in registers, and multiply these with the values. The
// softmax keeps the largest score so far, as in `attention`.
#include "../common/groups.cuh"

enum { DEPTH = 64, KEYS = 64, ROWS = 128, STAGES = 2, TILE_BYTES = KEYS * TILE_ROW_BYTES, CONSUMERS = 2 };
enum { SUMS = DEPTH / 2, STEPS = DEPTH / 16, STEP_BYTES = 32, STEP_ROWS_BYTES = 16 * TILE_ROW_BYTES };

// 64 rows by 64 keys, over 16 of the 64 numbers of a row: A and B in shared memory.
static __device__ __forceinline__ void multiply_keys(float *d, unsigned long long a, unsigned long long b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, "
                 "%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
                 "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
                   "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}

// 64 rows by 64 numbers, over 16 keys: the weights in registers, the values, by rows of k, in shared memory.
static __device__ __forceinline__ void multiply_values(float *d, const unsigned *a, unsigned long long b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, "
                 "%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
                 "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, p, 1, 1, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
                   "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

struct pipeline {
    __align__(1024) unsigned char q[ROWS * TILE_ROW_BYTES], k[STAGES][TILE_BYTES], v[STAGES][TILE_BYTES];
    unsigned long long q_full, full[STAGES], empty[STAGES];
};

extern __shared__ __align__(1024) unsigned char shared[];

static __device__ __forceinline__ void produce(struct pipeline *pipeline, const unsigned char *q,
                                               const unsigned char *k, const unsigned char *v, int n_tiles) {
    unsigned q_full = shared_address(&pipeline->q_full);
    barrier_expect(q_full, ROWS * TILE_ROW_BYTES);
    copy_in(shared_address(pipeline->q), q, ROWS * TILE_ROW_BYTES, q_full);
    for (int i = 0; i < n_tiles; i++) {
        int stage = i % STAGES;
        unsigned full = shared_address(&pipeline->full[stage]);
        if (i >= STAGES)
            barrier_wait(shared_address(&pipeline->empty[stage]), (i / STAGES - 1) & 1);
        barrier_expect(full, 2 * TILE_BYTES);
        copy_in(shared_address(pipeline->k[stage]), k + (size_t)i * TILE_BYTES, TILE_BYTES, full);
        copy_in(shared_address(pipeline->v[stage]), v + (size_t)i * TILE_BYTES, TILE_BYTES, full);
    }
}

static __device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

static __device__ __forceinline__ float power_of_two(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
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

// A lane has 16 neighbouring pairs of sums in each of two rows.
struct rows {
    float sum[SUMS], total[2], largest[2];
};

// Turns the scores of one of a lane's two rows into weights. scale: log2(e) / 8, so that weights are powers of two.
static __device__ __forceinline__ void weigh_row(struct rows *rows, float *score, int half, float scale) {
    float largest = score[2 * half];
#pragma unroll
    for (int j = 0; j < KEYS / 8; j++)
        largest = fmaxf(fmaxf(score[4 * j + 2 * half], score[4 * j + 2 * half + 1]), largest);
    largest = fmaxf(largest_of_row(largest) * scale, rows->largest[half]);
    float factor = power_of_two(rows->largest[half] - largest);
    rows->largest[half] = largest;
    rows->total[half] *= factor;
#pragma unroll
    for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float *s = &score[4 * j + 2 * half + i];
            *s = power_of_two(fmaf(*s, scale, -largest));
            rows->total[half] += *s;
        }
#pragma unroll
    for (int j = 0; j < DEPTH / 8; j++) {
        rows->sum[4 * j + 2 * half] *= factor;
        rows->sum[4 * j + 2 * half + 1] *= factor;
    }
}

static __device__ __forceinline__ void add_keys(struct rows *rows, unsigned q, unsigned k, unsigned v, float scale) {
    float score[KEYS / 2];
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++)
        score[i] = 0;
    products_begin();
#pragma unroll
    for (int x = 0; x < STEPS; x++)
        multiply_keys(score, descriptor_of(q + x * STEP_BYTES), descriptor_of(k + x * STEP_BYTES), x > 0);
    products_end();
    PRODUCTS_WAIT(0);
    KEEP(score, KEYS / 2);
    weigh_row(rows, score, 0, scale);
    weigh_row(rows, score, 1, scale);
    unsigned weight[STEPS][4];
#pragma unroll
    for (int x = 0; x < STEPS; x++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            weight[x][i] = pack(score[8 * x + 2 * i], score[8 * x + 2 * i + 1]);
    KEEP(rows->sum, SUMS);
    products_begin();
#pragma unroll
    for (int x = 0; x < STEPS; x++)
        multiply_values(rows->sum, weight[x], descriptor_of(v + x * STEP_ROWS_BYTES), 1);
    products_end();
    PRODUCTS_WAIT(0);
    KEEP(rows->sum, SUMS);
}

static __device__ __forceinline__ void store_rows(struct rows *rows, float *o, int row) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float reciprocal = 1 / sum_of_row(rows->total[half]);
        float *to = &o[(size_t)(row + lane / 4 + 8 * half) * DEPTH + lane % 4 * 2];
#pragma unroll
        for (int j = 0; j < DEPTH / 8; j++)
            *(float2 *)&to[8 * j] =
                make_float2(rows->sum[4 * j + 2 * half] * reciprocal, rows->sum[4 * j + 2 * half + 1] * reciprocal);
    }
}

// n is a multiple of 128. blockIdx.y is the head; the heads follow each other in every matrix.
extern "C" __global__ void __launch_bounds__(GROUP *(1 + CONSUMERS), 1)
    attention_groups(const unsigned char *q, const unsigned char *k, const unsigned char *v, float *o, int n,
                     float scale) {
    struct pipeline *pipeline = (struct pipeline *)shared;
    int t = threadIdx.x, group = t / GROUP - 1, n_tiles = n / KEYS;
    size_t head = (size_t)blockIdx.y * n * TILE_ROW_BYTES, first = (size_t)blockIdx.x * ROWS * TILE_ROW_BYTES;
    if (t == 0) {
        barrier_init(shared_address(&pipeline->q_full), 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(shared_address(&pipeline->full[i]), 1);
            barrier_init(shared_address(&pipeline->empty[i]), CONSUMERS);
        }
        fence_async();
    }
    __syncthreads();
    if (group < 0) {
        GIVE_REGISTERS(40);
        if (t == 0)
            produce(pipeline, q + head + first, k + head, v + head, n_tiles);
        return;
    }
    TAKE_REGISTERS(232);
    struct rows rows;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        rows.sum[i] = 0;
    rows.total[0] = rows.total[1] = 0;
    rows.largest[0] = rows.largest[1] = -1e30f;
    unsigned q_rows = shared_address(pipeline->q) + group * 64 * TILE_ROW_BYTES;
    barrier_wait(shared_address(&pipeline->q_full), 0);
    for (int i = 0; i < n_tiles; i++) {
        int stage = i % STAGES;
        barrier_wait(shared_address(&pipeline->full[stage]), i / STAGES & 1);
        add_keys(&rows, q_rows, shared_address(pipeline->k[stage]), shared_address(pipeline->v[stage]), scale);
        if (t % GROUP == 0)
            barrier_arrive(shared_address(&pipeline->empty[stage]));
    }
    store_rows(&rows, o + (size_t)blockIdx.y * n * DEPTH, blockIdx.x * ROWS + group * 64 + t % GROUP / 32 * 16);
}
