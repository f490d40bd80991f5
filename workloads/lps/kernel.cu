// One Jacobi step for Laplace's equation on a box of points: each inner point becomes the mean of its six neighbours,
// points on the box's faces stay. A block owns a tile of 32 x 4 points of every plane and marches through the planes:
// the points below and above are in registers, the current plane's tile is in shared memory with a border of one point.
#include <heddle/device.h>

enum { TILE_X = 32, TILE_Y = 4 };

typedef float tile_t[TILE_Y + 2][TILE_X + 2];

template <bool HAS_PROGRESS>
__device__ __forceinline__ void step(tile_t &tile, const float *from, float *to, int nx, int ny, int nz) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE_X + tx, y = blockIdx.y * TILE_Y + ty;
    int plane = nx * ny, at = y * nx + x;
    bool inside = x < nx && y < ny;
    bool on_face = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    float below = 0.0f, here = 0.0f, above = 0.0f;
    if (inside)
        above = from[at];
#pragma unroll 1
    for (int z = 0; z < nz; z++) {
        if (HAS_PROGRESS)
            __heddle_progress(z);
        below = here;
        here = above;
        if (inside) {
            tile[ty + 1][tx + 1] = here;
            if (tx == 0 && x > 0)
                tile[ty + 1][0] = from[at - 1];
            if (tx == TILE_X - 1 && x < nx - 1)
                tile[ty + 1][TILE_X + 1] = from[at + 1];
            if (ty == 0 && y > 0)
                tile[0][tx + 1] = from[at - nx];
            if (ty == TILE_Y - 1 && y < ny - 1)
                tile[TILE_Y + 1][tx + 1] = from[at + nx];
            if (z < nz - 1)
                above = from[at + plane];
        }
        __syncthreads();
        if (inside) {
            float mean = here;
            if (!on_face && z > 0 && z < nz - 1)
                mean = (tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1] + below +
                        above) *
                       (1.0f / 6.0f);
            to[at] = mean;
        }
        __syncthreads();
        at += plane;
    }
}

extern "C" __global__ void lps(const float *from, float *to, int nx, int ny, int nz) {
    __shared__ tile_t tile;
    step<false>(tile, from, to, nx, ny, nz);
}

extern "C" __global__ void lps_progress(const float *from, float *to, int nx, int ny, int nz) {
    __shared__ tile_t tile;
    step<true>(tile, from, to, nx, ny, nz);
}
