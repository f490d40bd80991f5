// Betweenness centrality from one source, one thread per node, one launch per level: `forward` finds the levels of a
// breadth-first search and counts the shortest paths to each node, `backward` adds up, from the last level on, which
// share of them passes each node.
#include <heddle/device.h>

// Threads that find the same node write the same level.
extern "C" __global__ void forward(const int *row, const int *col, int *level, unsigned *paths, int *changed, int cur,
                                   int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (level[i] != cur)
            continue;
        int end = row[i + 1];
        unsigned own = paths[i];
#pragma unroll 1
        for (int e = row[i]; e < end; e++) {
            int v = col[e], found = level[v];
            if (found < 0) {
                level[v] = cur + 1;
                *changed = 1;
            }
            if (found < 0 || found == cur + 1)
                atomicAdd(&paths[v], own);
        }
    }
}

extern "C" __global__ void backward(const int *row, const int *col, const int *level, const unsigned *paths,
                                    float *passing, float *centrality, int cur, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (level[i] != cur)
            continue;
        int end = row[i + 1];
        float own = (float)paths[i], sum = 0.0f;
#pragma unroll 1
        for (int e = row[i]; e < end; e++) {
            int v = col[e];
            if (level[v] == cur + 1)
                sum += own / (float)paths[v] * (1.0f + passing[v]);
        }
        passing[i] = sum;
        if (cur > 0) // not the source itself
            centrality[i] += sum;
    }
}
