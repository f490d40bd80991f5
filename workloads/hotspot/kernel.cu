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
