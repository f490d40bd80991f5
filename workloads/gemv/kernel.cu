// Product of a dense matrix, stored by rows, with a vector, one row per thread: the threads of a warp walk through 32
// rows at once and come back to each of their lines in the next iterations.
#include <heddle/device.h>

extern "C" __global__ void gemv(const float *matrix, const float *x, float *y, int n_rows, int n_columns) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_rows; i += gridDim.x * blockDim.x) {
        const float *row = matrix + (long long)i * n_columns;
        float sum = 0.0f;
#pragma unroll 1
        for (int k = 0; k < n_columns; k++)
            sum += row[k] * x[k];
        y[i] = sum;
    }
}
