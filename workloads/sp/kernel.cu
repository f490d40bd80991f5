// Scalar products of pairs of vectors, one pair per block at a time: each thread adds the products of a strided walk,
// then the block adds its threads' sums in a shared-memory tree.
#include <heddle/device.h>

// Dynamic shared memory: a float for each thread.
extern "C" __global__ void scalar_products(const float *a, const float *b, float *product, int n_vectors, int length) {
    extern __shared__ float sums[];
    int t = threadIdx.x;
#pragma unroll 1
    for (int vector = blockIdx.x; vector < n_vectors; vector += gridDim.x) {
        int end = (vector + 1) * length;
        float sum = 0.0f;
#pragma unroll 1
        for (int i = vector * length + t; i < end; i += blockDim.x)
            sum += a[i] * b[i];
        sums[t] = sum;
        __syncthreads();
        // Adds the upper part to the lower one; with an odd width the middle element stays in place.
        int width = blockDim.x;
#pragma unroll 1
        while (width > 1) {
            int half = (width + 1) / 2;
            if (t < width - half)
                sums[t] += sums[t + half];
            __syncthreads();
            width = half;
        }
        if (t == 0)
            product[vector] = sums[0];
        __syncthreads();
    }
}
