// Shortest paths: Bellman-Ford with atomic minima over edges, and Floyd-Warshall over all pairs.
#include "../check.cuh"

__global__ void relax(const int *from, const int *to, const int *length, int *distance, int n_edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n_edges && distance[from[e]] < 1000000)
        atomicMin(&distance[to[e]], distance[from[e]] + length[e]);
}

__global__ void through(int *d, int n, int k) {
    int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n && d[i * n + k] + d[k * n + j] < d[i * n + j])
        d[i * n + j] = d[i * n + k] + d[k * n + j];
}

int main() {
    const int n = 64, n_edges = 300, far = 1000000;
    Random random(10);
    std::vector<int> from(n_edges), to(n_edges), length(n_edges), all(n * n, far), distance(n, far);
    for (int i = 0; i < n; i++)
        all[i * n + i] = 0;
    for (int e = 0; e < n_edges; e++) {
        from[e] = random.below(n);
        to[e] = random.below(n);
        length[e] = 1 + random.below(50);
        int &d = all[from[e] * n + to[e]];
        d = std::min(d, length[e]);
    }
    distance[0] = 0;
    Device<int> df(from), dt(to), dl(length), dd(distance), da(all);
    for (int i = 0; i < n; i++)
        relax<<<blocks_of(n_edges, 128), 128>>>(df, dt, dl, dd, n_edges);
    for (int k = 0; k < n; k++)
        through<<<dim3(1, n), n>>>(da, n, k);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                all[i * n + j] = std::min(all[i * n + j], all[i * n + k] + all[k * n + j]);
    expect_equal(da.get(), all);
    expect_equal(dd.get(), std::vector<int>(all.begin(), all.begin() + n));
    return 0;
}
