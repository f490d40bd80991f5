// One time step of heat in a chip: every cell of a square grid exchanges heat with its four neighbours and the
// environment and is heated by its power. Heat does not cross the edge of the chip: a neighbour beyond it is the cell
// itself.
#include <heddle/device.h>

// The change of a cell's temperature in one step per kelvin of difference, or per watt.
struct rates {
    float lateral, vertical, power;
    float ambient; // temperature
};

// The next temperature of cell (x, y), which is cell i; its neighbours come from the cache.
static __device__ __forceinline__ void step_cell(const float *before, const float *power, float *after, const rates &r,
                                                 int side, int x, int y, int i) {
    int last = side - 1;
    float north = before[y > 0 ? i - side : i], south = before[y < last ? i + side : i];
    float west = before[x > 0 ? i - 1 : i], east = before[x < last ? i + 1 : i], here = before[i];
    after[i] = here + r.power * power[i] + r.lateral * (north + south - 2.0f * here) +
               r.lateral * (west + east - 2.0f * here) + r.vertical * (r.ambient - here);
}

// One thread per cell.
extern "C" __global__ void hotspot(const float *before, const float *power, float *after, rates r, int side) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < side && y < side)
        step_cell(before, power, after, r, side, x, y, y * side + x);
}

// Any shape: neighbouring cells to neighbouring threads.
extern "C" __global__ void hotspot_strided(const float *before, const float *power, float *after, rates r, int side) {
    int n = side * side;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        step_cell(before, power, after, r, side, i % side, i / side, i);
}

static __device__ __forceinline__ float next_temperature(const rates &r, float here, float watts, float north,
                                                         float south, float west, float east) {
    return here + r.power * watts + r.lateral * (north + south - 2.0f * here) +
           r.lateral * (west + east - 2.0f * here) + r.vertical * (r.ambient - here);
}

// All threads together take whole rows of the grid, then the rows below them: a thread stays in its column. Only the
// first and the last row look for the edge, and pointers have the place of each neighbour, so that little but the loads
// and the arithmetic is left for the rows between. The number of threads is a multiple of side.
extern "C" __global__ void hotspot_columns(const float *before, const float *power, float *after, rates r, int side) {
    int n_threads = gridDim.x * blockDim.x, last = side - 1, first_of_last = last * side;
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % side;
    const float *west = before - (x > 0), *east = before + (x < last), *above = before - side, *below = before + side;
    if (i < side) {
        step_cell(before, power, after, r, side, x, 0, i);
        i += n_threads;
    }
#pragma unroll 1
    for (; i < first_of_last; i += n_threads)
        after[i] = next_temperature(r, before[i], power[i], above[i], below[i], west[i], east[i]);
    if (i < first_of_last + side)
        step_cell(before, power, after, r, side, x, last, i);
}

enum { TILE = 16, TILE_STEPS = 2, TILE_INNER = TILE - 2 * TILE_STEPS };

// TILE_STEPS steps in one launch, in blocks of TILE x TILE: a block loads a tile into shared memory and loses one cell
// on each side with every step, so that TILE_INNER x TILE_INNER cells remain to be stored.
extern "C" __global__ void hotspot_tiles(const float *before, const float *power, float *after, rates r, int side) {
    __shared__ float tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, last = side - 1;
    int x = (int)blockIdx.x * TILE_INNER - TILE_STEPS + tx, y = (int)blockIdx.y * TILE_INNER - TILE_STEPS + ty;
    bool is_inside = x >= 0 && x < side && y >= 0 && y < side;
    float here = 0.0f, watts = 0.0f;
    if (is_inside) {
        here = before[y * side + x];
        watts = power[y * side + x];
    }
    tile[ty][tx] = here;
    __syncthreads();
#pragma unroll 1
    for (int step = 1; step <= TILE_STEPS; step++) {
        bool is_known = is_inside && min(min(tx, ty), TILE - 1 - max(tx, ty)) >= step;
        if (is_known) {
            float north = tile[y > 0 ? ty - 1 : ty][tx], south = tile[y < last ? ty + 1 : ty][tx];
            float west = tile[ty][x > 0 ? tx - 1 : tx], east = tile[ty][x < last ? tx + 1 : tx];
            here = next_temperature(r, here, watts, north, south, west, east);
        }
        __syncthreads();
        tile[ty][tx] = here;
        __syncthreads();
    }
    if (is_inside && min(min(tx, ty), TILE - 1 - max(tx, ty)) >= TILE_STEPS)
        after[y * side + x] = here;
}
