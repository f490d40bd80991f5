// Cheapest way down a grid of costs, row by row: a cell is entered from the cell above it or from one of that cell's
// two neighbours. A launch advances several rows. A block loads as many columns as it has threads and keeps the current
// row in shared memory; the columns it can compute shrink by one on either side with each row, so neighbouring blocks
// overlap and each delivers only the columns that remain.
#include <heddle/device.h>

// Advances `n_rows` rows (at most `halo`) from the path costs `from`, on the way to `to`. `costs` begins at the first
// row to add. Dynamic shared memory: two rows of blockDim.x ints.
extern "C" __global__ void pf(const int *costs, const int *from, int *to, int n_columns, int n_rows, int halo) {
    extern __shared__ int shared[];
    int n_threads = blockDim.x, t = threadIdx.x;
    int width = n_threads - 2 * halo; // columns a block delivers
    int n_tiles = (n_columns + width - 1) / width;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
        int column = tile * width + t - halo;
        bool inside = column >= 0 && column < n_columns;
        int left = column > 0 ? t - 1 : t, right = column < n_columns - 1 ? t + 1 : t;
        int *current = shared, *next = shared + n_threads;
        if (inside)
            current[t] = from[column];
        __syncthreads();
#pragma unroll 1
        for (int row = 0; row < n_rows; row++) {
            if (inside && t > row && t < n_threads - 1 - row) {
                int best = min(min(current[left], current[t]), current[right]);
                next[t] = best + costs[row * n_columns + column];
            }
            __syncthreads();
            int *swap = current;
            current = next;
            next = swap;
        }
        if (inside && t >= halo && t < n_threads - halo)
            to[column] = current[t];
        __syncthreads();
    }
}
