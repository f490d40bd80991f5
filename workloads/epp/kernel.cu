// Pi by throwing points at the unit square, with random numbers generated in the kernel: a stream of its own for each
// thread (common/xorwow.cuh).
#include <heddle/device.h>

#include "../common/xorwow.cuh"

// Uniform in [0, 1) in steps of 2^-24, all exact.
static __device__ __forceinline__ float uniform(xorwow &g) { return (float)(xorwow_next(g) >> 8) * 0x1p-24f; }

// Adds to *n_inside the number of points that fall into the quarter circle. The operations are not fused, so that every
// IEEE implementation counts the same points.
extern "C" __global__ void epp(const unsigned *matrices, const unsigned *seed, unsigned stream_steps, int n_points,
                               unsigned *n_inside) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, n_threads = gridDim.x * blockDim.x;
    xorwow g = enter_stream(matrices, seed, (unsigned)thread, stream_steps);
    unsigned inside = 0;
#pragma unroll 1
    for (int i = thread; i < n_points; i += n_threads) {
        float x = uniform(g), y = uniform(g);
        if (__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f)
            inside++;
    }
    if (inside)
        atomicAdd(n_inside, inside);
}
