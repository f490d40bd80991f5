// The kernel computation of training a support vector machine: for a working pair of vectors, the Gaussian kernel of
// every vector with both, added with their weights to the vector's gradient. One vector per thread; vectors that have
// been shrunk from the problem are skipped. A vector is a row of `dimensions` floats.
#include <heddle/device.h>

extern "C" __global__ void add_kernel_rows(const float *vectors, const int *is_active, float *gradient, int n,
                                           int dimensions, int first, int second, float first_weight,
                                           float second_weight, float gamma) {
    const float *a = vectors + first * dimensions, *b = vectors + second * dimensions;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (!is_active[i])
            continue;
        const float *x = vectors + i * dimensions;
        float from_a = 0.0f, from_b = 0.0f;
#pragma unroll 1
        for (int k = 0; k < dimensions; k++) {
            float difference_a = x[k] - a[k], difference_b = x[k] - b[k];
            from_a += difference_a * difference_a;
            from_b += difference_b * difference_b;
        }
        gradient[i] += first_weight * expf(-gamma * from_a) + second_weight * expf(-gamma * from_b);
    }
}
