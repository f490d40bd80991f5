__global__ void bfs(const int *row, const int *col, int *level, int *frontier, int *next, int *n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n[0]) {
        int v = frontier[i];
        for (int e = row[v]; e < row[v + 1]; e++)
            if (atomicCAS(&level[col[e]], -1, d) == -1)
                next[atomicAdd(n + 1, 1)] = col[e];
    }
}
