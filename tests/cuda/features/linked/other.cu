// The other file: what main.cu calls, and a kernel of its own.
#include "../../check.cuh"
#include "shared.cuh"

__device__ int twice(int x) {
    atomicAdd(&calls, 1);
    return 2 * x;
}

__device__ int biased(int x) { return x + offsets[x % 4]; }

static __global__ void run(int *out) { out[threadIdx.x] = calls; }

void launch_from_other_file(int *out) { run<<<1, 64>>>(out); }
