// C = A B for square matrices whose side is a multiple of 16: each block computes a 16 x 16 tile of C from tiles of A
// and B held in shared memory. The `_strided` kernels let a one-dimensional grid of any length walk over the tiles. The
// `_plain` ones walk over the same tiles of C and read A and B from global memory, element by element.
#include <heddle/device.h>

enum { TILE = 16 };

template <class element>
static __device__ __forceinline__ void multiply_tile(const element *a, const element *b, element *c, int n, int tile_x,
                                                     int tile_y) {
    __shared__ element as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, col = tile_x * TILE + tx, row = tile_y * TILE + ty;
    element sum = 0;
    for (int m = 0; m < n; m += TILE) {
        as[ty][tx] = a[row * n + m + tx];
        bs[ty][tx] = b[(m + ty) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

template <class element>
static __device__ __forceinline__ void multiply_strided(const element *a, const element *b, element *c, int n) {
    int side = n / TILE;
    for (int tile = blockIdx.x; tile < side * side; tile += gridDim.x)
        multiply_tile(a, b, c, n, tile % side, tile / side);
}

// The loop stays one, as the compiler of a CPU leaves it that has memory operands.
template <class element>
static __device__ __forceinline__ void multiply_plain(const element *a, const element *b, element *c, int n) {
    int side = n / TILE;
    for (int tile = blockIdx.x; tile < side * side; tile += gridDim.x) {
        int col = tile % side * TILE + threadIdx.x, row = tile / side * TILE + threadIdx.y;
        element sum = 0;
#pragma unroll 1
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    multiply_tile(a, b, c, n, blockIdx.x, blockIdx.y);
}

extern "C" __global__ void matmul_int(const int *a, const int *b, int *c, int n) {
    multiply_tile(a, b, c, n, blockIdx.x, blockIdx.y);
}

extern "C" __global__ void matmul_strided(const float *a, const float *b, float *c, int n) {
    multiply_strided(a, b, c, n);
}

extern "C" __global__ void matmul_int_strided(const int *a, const int *b, int *c, int n) {
    multiply_strided(a, b, c, n);
}

extern "C" __global__ void matmul_plain(const float *a, const float *b, float *c, int n) { multiply_plain(a, b, c, n); }

extern "C" __global__ void matmul_int_plain(const int *a, const int *b, int *c, int n) { multiply_plain(a, b, c, n); }
