// PageRank: contributions along edges with atomic additions of floats.
#include "../check.cuh"

__global__ void spread(const int *starts, const int *edges, const float *rank, float *next, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n)
        return;
    int degree = starts[node + 1] - starts[node];
    for (int e = starts[node]; e < starts[node + 1]; e++)
        atomicAdd(&next[edges[e]], 0.85f * rank[node] / degree);
}

__global__ void base(float *next, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < n)
        next[node] = 0.15f / n;
}

int main() {
    const int n = 400, n_rounds = 5;
    Random random(12);
    std::vector<int> starts(1), edges;
    for (int i = 0; i < n; i++) {
        for (unsigned k = 1 + random.below(8); k; k--)
            edges.push_back(random.below(random.below(n) + 1));
        starts.push_back(static_cast<int>(edges.size()));
    }
    std::vector<float> rank(n, 1.0f / n), next(n);
    Device<int> ds(starts), de(edges);
    Device<float> a(rank), b(n);
    for (int round = 0; round < n_rounds; round++) {
        float *in = round % 2 ? b : a, *out = round % 2 ? a : b;
        base<<<blocks_of(n, 128), 128>>>(out, n);
        spread<<<blocks_of(n, 128), 128>>>(ds, de, in, out, n);
        std::fill(next.begin(), next.end(), 0.15f / n);
        for (int i = 0; i < n; i++)
            for (int e = starts[i]; e < starts[i + 1]; e++)
                next[edges[e]] += 0.85f * rank[i] / (starts[i + 1] - starts[i]);
        rank.swap(next);
    }
    expect_near(b.get(), rank, 1e-5);
    return 0;
}
