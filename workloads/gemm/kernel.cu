// C = A B for matrices of half precision whose sides are multiples of 64; C is single precision. Each block of four
// warps computes a tile of 64 x 64 from tiles of A and B in shared memory, 32 along k at a time. `gemm` multiplies with
// the ALU, an eighth of a row of the tile per thread; `gemm_mma` with matrix instructions, 32 x 32 per warp, while the
// next tiles are on their way.
#include <heddle/device.h>

enum { TILE = 64, DEPTH = 32, WARP_TILE = 32, THREADS = 128, A_PITCH = DEPTH + 8, B_PITCH = TILE + 8 };
enum { CHUNK = 8, CHUNKS = TILE * DEPTH / CHUNK / THREADS }; // elements copied at once; of either tile, per thread

// Rows are longer than their elements, so that eight rows of 16 bytes are in different banks.
struct tiles {
    ushort a[TILE * A_PITCH], b[DEPTH * B_PITCH];
};

static __device__ __forceinline__ float to_float(ushort half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}

// ---- the ALU

static __device__ __forceinline__ void copy_chunk(ushort *to, const ushort *from) {
    *(uint4 *)to = *(const uint4 *)from;
}

extern "C" __global__ void gemm(const ushort *a, const ushort *b, float *c, int n, int k) {
    __shared__ __align__(16) struct tiles tiles;
    int t = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int rows = t / 8 * 4, cols = t % 8 * 8; // of this thread: 4 x 8
    float sum[4][8] = {};
    for (int at = 0; at < k; at += DEPTH) {
#pragma unroll
        for (int s = 0; s < CHUNKS; s++) {
            int i = t + s * THREADS;
            copy_chunk(&tiles.a[i / 4 * A_PITCH + i % 4 * CHUNK], &a[(row0 + i / 4) * k + at + i % 4 * CHUNK]);
            copy_chunk(&tiles.b[i / 8 * B_PITCH + i % 8 * CHUNK], &b[(at + i / 8) * n + col0 + i % 8 * CHUNK]);
        }
        __syncthreads();
        for (int x = 0; x < DEPTH; x++) {
            float left[4], right[8];
#pragma unroll
            for (int i = 0; i < 4; i++)
                left[i] = to_float(tiles.a[(rows + i) * A_PITCH + x]);
#pragma unroll
            for (int j = 0; j < 8; j++)
                right[j] = to_float(tiles.b[x * B_PITCH + cols + j]);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
            c[(row0 + rows + i) * n + col0 + cols + j] = sum[i][j];
}

// ---- matrix instructions

static __device__ __forceinline__ uint shared_address(const void *pointer) {
    return (uint)__cvta_generic_to_shared(pointer);
}

static __device__ __forceinline__ void start_chunk(ushort *to, const ushort *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

static __device__ __forceinline__ void start_tiles(struct tiles *tiles, const ushort *a, const ushort *b, int row0,
                                                   int col0, int n, int k, int at) {
#pragma unroll
    for (int s = 0; s < CHUNKS; s++) {
        int i = threadIdx.x + s * THREADS;
        start_chunk(&tiles->a[i / 4 * A_PITCH + i % 4 * CHUNK], &a[(row0 + i / 4) * k + at + i % 4 * CHUNK]);
        start_chunk(&tiles->b[i / 8 * B_PITCH + i % 8 * CHUNK], &b[(at + i / 8) * n + col0 + i % 8 * CHUNK]);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Four matrices of 8 x 8 elements: the lanes' addresses are their rows.
static __device__ __forceinline__ void load_fragments(uint *to, const ushort *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

static __device__ __forceinline__ void load_transposed(uint *to, const ushort *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

static __device__ __forceinline__ void multiply(float *sum, const uint *a, const uint *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two fragments of 16 rows times four of 8 columns.
static __device__ __forceinline__ void multiply_tiles(float sum[2][4][4], const struct tiles *tiles, int row, int col) {
    int lane = threadIdx.x % 32;
    int in_rows = lane % 16, in_cols = lane / 16 * 8; // a lane's row of 8 elements in a matrix of 16 x 16
#pragma unroll
    for (int x = 0; x < DEPTH; x += 16) {
        uint a[2][4], b[2][4];
#pragma unroll
        for (int i = 0; i < 2; i++)
            load_fragments(a[i], &tiles->a[(row + 16 * i + in_rows) * A_PITCH + x + in_cols]);
#pragma unroll
        for (int j = 0; j < 2; j++)
            load_transposed(b[j], &tiles->b[(x + in_rows) * B_PITCH + col + 16 * j + in_cols]);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(sum[i][j], a[i], &b[j / 2][j % 2 * 2]);
    }
}

extern "C" __global__ void gemm_mma(const ushort *a, const ushort *b, float *c, int n, int k) {
    __shared__ __align__(16) struct tiles tiles[2];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, row = warp / 2 * WARP_TILE, col = warp % 2 * WARP_TILE;
    float sum[2][4][4] = {};
    start_tiles(&tiles[0], a, b, row0, col0, n, k, 0);
    for (int at = 0, turn = 0; at < k; at += DEPTH, turn = 1 - turn) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        if (at + DEPTH < k)
            start_tiles(&tiles[1 - turn], a, b, row0, col0, n, k, at + DEPTH);
        multiply_tiles(sum, &tiles[turn], row, col);
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *to = &c[(row0 + row + 16 * i + lane / 4) * n + col0 + col + 8 * j + lane % 4 * 2];
            to[0] = sum[i][j][0];
            to[1] = sum[i][j][1];
            to[8 * n] = sum[i][j][2];
            to[8 * n + 1] = sum[i][j][3];
        }
}
