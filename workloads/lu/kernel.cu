// The two kernels of a step of LU decomposition in place, without pivoting: step k divides column k below the diagonal
// by the pivot (a walk down the rows, one element per thread), and then subtracts from every later row its multiple of
// row k (a walk along the rows, one row per block at a time).
#include <heddle/device.h>

extern "C" __global__ void scale_column(float *matrix, int n, int k) {
    float pivot = matrix[k * n + k];
#pragma unroll 1
    for (int row = k + 1 + blockIdx.x * blockDim.x + threadIdx.x; row < n; row += gridDim.x * blockDim.x)
        matrix[row * n + k] /= pivot;
}

extern "C" __global__ void update_rest(float *matrix, int n, int k) {
    const float *pivot_row = matrix + k * n;
#pragma unroll 1
    for (int i = k + 1 + blockIdx.x; i < n; i += gridDim.x) {
        float *row = matrix + i * n;
        float factor = row[k];
#pragma unroll 1
        for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x)
            row[j] -= factor * pivot_row[j];
    }
}
