// One round of a search for the shortest paths from node 0, one thread per node, in two launches. `relax` offers the
// way over each node whose distance fell in the last round to its neighbours, and `settle` takes the best offers over.
// Distances change only in `settle`, so rounds do not depend on the order of threads.
#include <heddle/device.h>

extern "C" __global__ void relax(const int *row, const int *col, const int *weight, const int *distance, int *offer,
                                 int *is_open, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (!is_open[i])
            continue;
        is_open[i] = 0;
        int end = row[i + 1], own = distance[i];
#pragma unroll 1
        for (int e = row[i]; e < end; e++)
            atomicMin(&offer[col[e]], own + weight[e]);
    }
}

extern "C" __global__ void settle(int *distance, const int *offer, int *is_open, int *changed, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int best = offer[i];
        if (best < distance[i]) {
            distance[i] = best;
            is_open[i] = 1;
            *changed = 1;
        }
    }
}
