// Computes what every point would save by moving to a candidate centre: its current cost minus its squared distance to
// the candidate, one point per thread. Coordinates are stored dimension by dimension, so that neighbouring threads read
// neighbouring words; the block keeps the candidate's in shared memory.
#include <heddle/device.h>

// Dynamic shared memory: a float for each dimension.
extern "C" __global__ void savings(const float *coordinates, const float *cost, float *saving, int n, int dimensions,
                                   int candidate) {
    extern __shared__ float centre[];
#pragma unroll 1
    for (int k = threadIdx.x; k < dimensions; k += blockDim.x)
        centre[k] = coordinates[k * n + candidate];
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float square = 0.0f;
#pragma unroll 1
        for (int k = 0; k < dimensions; k++) {
            float difference = coordinates[k * n + i] - centre[k];
            square += difference * difference;
        }
        saving[i] = cost[i] - square;
    }
}
