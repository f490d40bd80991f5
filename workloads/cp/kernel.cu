// Electric potential of point charges on one plane of a lattice: the potential at a point is the sum of charge over
// distance. A thread computes four neighbouring points of a row, so that values that depend only on the row are
// computed once for the four; the atoms are in constant memory, where all threads of a warp read the same one at the
// same time.
#include <heddle/device.h>

enum { MAX_ATOMS = 256, POINTS_PER_THREAD = 4, TILE_THREADS_X = 16 };

// x, y: position in the plane; z: the square of the distance from the plane; w: charge. The host fills it in.
__constant__ float4 atoms[MAX_ATOMS];

// Computes the four points from (column, row) on; the lattice is `width` points wide, a multiple of four.
static __device__ __forceinline__ void sum_points(float *potential, int width, float spacing, int n_atoms, int column,
                                                  int row) {
    float x = column * spacing, y = row * spacing;
    float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
#pragma unroll 1
    for (int i = 0; i < n_atoms; i++) {
        float4 atom = atoms[i];
        float dy = y - atom.y;
        float off_row = dy * dy + atom.z;
        float dx0 = x - atom.x;
        float dx1 = dx0 + spacing, dx2 = dx1 + spacing, dx3 = dx2 + spacing;
        sum0 += atom.w * rsqrtf(dx0 * dx0 + off_row);
        sum1 += atom.w * rsqrtf(dx1 * dx1 + off_row);
        sum2 += atom.w * rsqrtf(dx2 * dx2 + off_row);
        sum3 += atom.w * rsqrtf(dx3 * dx3 + off_row);
    }
    float4 *out = (float4 *)(potential + row * width + column);
    *out = make_float4(sum0, sum1, sum2, sum3);
}

// A block is a tile of 64 points by blockDim.y rows.
extern "C" __global__ void cp(float *potential, int width, int height, float spacing, int n_atoms) {
    int column = (blockIdx.x * TILE_THREADS_X + threadIdx.x) * POINTS_PER_THREAD;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        sum_points(potential, width, spacing, n_atoms, column, row);
}

// The same with blocks that walk over the tiles.
extern "C" __global__ void cp_strided(float *potential, int width, int height, float spacing, int n_atoms) {
    int tile_width = TILE_THREADS_X * POINTS_PER_THREAD;
    int tiles_x = (width + tile_width - 1) / tile_width, tiles_y = (height + blockDim.y - 1) / blockDim.y;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < tiles_x * tiles_y; tile += gridDim.x) {
        int column = tile % tiles_x * tile_width + threadIdx.x * POINTS_PER_THREAD;
        int row = tile / tiles_x * blockDim.y + threadIdx.y;
        if (column < width && row < height)
            sum_points(potential, width, spacing, n_atoms, column, row);
    }
}
