// A step of Gaussian elimination, in place and without pivoting, one row per thread: step k divides the row's element
// in column k by the pivot and subtracts that multiple of row k from the rest of the row.
#include "../common/tasks.cuh"

// A matrix of n rows of `width` elements, the last of them a right-hand side.
extern "C" __global__ void eliminate(double *matrix, int n, int width, int k, int rejoins) {
    const double *pivot_row = matrix + k * width;
#pragma unroll 1
    for (int i = k + 1 + first_task(); i < n; i += n_threads()) {
        double *row = matrix + i * width, factor = row[k] / pivot_row[k];
        row[k] = factor;
#pragma unroll 12
        for (int j = k + 1; j < width; j++)
            row[j] -= factor * pivot_row[j];
        end_task(rejoins);
    }
}
