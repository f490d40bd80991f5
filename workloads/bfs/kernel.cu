// One level of a breadth-first search, one thread per node: threads whose node is on level `cur` mark the neighbours
// that have no level yet. Two threads may mark the same neighbour, with the same value.
#include <heddle/device.h>

static __device__ __forceinline__ void visit(const int *row, const int *col, int *level, int *changed, int cur, int i) {
    int e1 = row[i + 1];
#pragma unroll 1
    for (int e = row[i]; e < e1; e++) {
        int v = col[e];
        if (level[v] < 0) {
            level[v] = cur + 1;
            *changed = 1;
        }
    }
}

extern "C" __global__ void bfs(const int *row, const int *col, int *level, int *changed, int cur, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || level[i] != cur)
        return;
    visit(row, col, level, changed, cur, i);
}

extern "C" __global__ void bfs_strided(const int *row, const int *col, int *level, int *changed, int cur, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (level[i] == cur)
            visit(row, col, level, changed, cur, i);
}
