// C = A B for half-precision A and B and single-precision C, by warps with different jobs. A block computes a tile of
// 128 x 128. One thread of the first warp group, the producer, copies tiles of A and B to shared memory, 64 along k at
// a time and up to STAGES steps ahead. The two other groups, the consumers, multiply 64 rows each, while the sums of
// the step before are still being added. Two mbarriers for each stage say that it is full and that it is empty.
//
// A is stored in tiles of 128 x 64 and B in tiles of 64 x 128, by columns, so that one bulk copy brings a tile. Tiles
// with the same rows of A, or columns of B, follow each other.
#include "../common/groups.cuh"

enum { TILE = 128, STAGES = 4, TILE_BYTES = TILE * TILE_ROW_BYTES, CONSUMERS = 2, SUMS = TILE / 2 };
enum { STEPS = TILE_K / 16, STEP_BYTES = 32 };

// 64 x 128 sums from 16 elements along k of A and B in shared memory.
static __device__ __forceinline__ void multiply(float *d, unsigned long long a, unsigned long long b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, "
                 "%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "
                 "%22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "
                 "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
                 "%60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                   "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
                   "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
                   "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]),
                   "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
                   "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
                   "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]),
                   "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b), "r"(adds));
}

struct pipeline {
    __align__(1024) unsigned char a[STAGES][TILE_BYTES], b[STAGES][TILE_BYTES];
    unsigned long long full[STAGES], empty[STAGES];
};

extern __shared__ __align__(1024) unsigned char shared[];

static __device__ __forceinline__ void produce(struct pipeline *pipeline, const unsigned char *a,
                                               const unsigned char *b, int n_steps) {
    for (int i = 0; i < n_steps; i++) {
        int stage = i % STAGES;
        unsigned full = shared_address(&pipeline->full[stage]);
        if (i >= STAGES)
            barrier_wait(shared_address(&pipeline->empty[stage]), (i / STAGES - 1) & 1);
        barrier_expect(full, 2 * TILE_BYTES);
        copy_in(shared_address(pipeline->a[stage]), a + (size_t)i * TILE_BYTES, TILE_BYTES, full);
        copy_in(shared_address(pipeline->b[stage]), b + (size_t)i * TILE_BYTES, TILE_BYTES, full);
    }
}

static __device__ __forceinline__ void consume(struct pipeline *pipeline, float *sum, int group, int n_steps) {
    for (int i = 0; i < n_steps; i++) {
        int stage = i % STAGES;
        unsigned a = shared_address(pipeline->a[stage]) + group * 64 * TILE_ROW_BYTES;
        unsigned b = shared_address(pipeline->b[stage]);
        barrier_wait(shared_address(&pipeline->full[stage]), i / STAGES & 1);
        products_begin();
#pragma unroll
        for (int x = 0; x < STEPS; x++)
            multiply(sum, descriptor_of(a + x * STEP_BYTES), descriptor_of(b + x * STEP_BYTES), i > 0 || x > 0);
        products_end();
        if (i > 0) { // the step before is complete, its stage may be filled again
            PRODUCTS_WAIT(1);
            if (threadIdx.x % GROUP == 0)
                barrier_arrive(shared_address(&pipeline->empty[(i - 1) % STAGES]));
        }
    }
    PRODUCTS_WAIT(0);
}

// n_steps: k / 64. n: columns of C.
extern "C" __global__ void __launch_bounds__(GROUP *(1 + CONSUMERS), 1)
    gemm_groups(const unsigned char *a, const unsigned char *b, float *c, int n, int n_steps) {
    struct pipeline *pipeline = (struct pipeline *)shared;
    int t = threadIdx.x, group = t / GROUP - 1;
    if (t == 0) {
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
            produce(pipeline, a + (size_t)blockIdx.y * n_steps * TILE_BYTES,
                    b + (size_t)blockIdx.x * n_steps * TILE_BYTES, n_steps);
        return;
    }
    TAKE_REGISTERS(232);
    float sum[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0;
    consume(pipeline, sum, group, n_steps);
    KEEP(sum, SUMS);
    int warp = t % GROUP / 32, lane = t % 32;
    int row = blockIdx.y * TILE + group * 64 + warp * 16 + lane / 4, column = blockIdx.x * TILE + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < TILE / 8; j++) {
        *(float2 *)&c[(size_t)row * n + column + 8 * j] = make_float2(sum[4 * j], sum[4 * j + 1]);
        *(float2 *)&c[(size_t)(row + 8) * n + column + 8 * j] = make_float2(sum[4 * j + 2], sum[4 * j + 3]);
    }
}
