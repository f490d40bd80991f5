// Product of a sparse matrix in compressed rows with a vector, one row per thread.
#include <heddle/device.h>

extern "C" __global__ void spmv(const int *row, const int *column, const float *value, const float *x, float *y,
                                int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int end = row[i + 1];
        float sum = 0.0f;
#pragma unroll 1
        for (int k = row[i]; k < end; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
