// Counts of the 256 byte values. Each block counts into its own copy in shared memory with shared-memory atomics, and
// adds the copy to the result in global memory at the end. Characters are read four at a time.
#include <heddle/device.h>

enum { BINS = 256 };

extern "C" __global__ void histogram(const unsigned *text, unsigned *bins, int n_words) {
    __shared__ unsigned count[BINS];
#pragma unroll 1
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        count[b] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += gridDim.x * blockDim.x) {
        unsigned four = text[i];
        atomicAdd(&count[four & 0xff], 1u);
        atomicAdd(&count[four >> 8 & 0xff], 1u);
        atomicAdd(&count[four >> 16 & 0xff], 1u);
        atomicAdd(&count[four >> 24], 1u);
    }
    __syncthreads();
#pragma unroll 1
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (count[b])
            atomicAdd(&bins[b], count[b]);
}
