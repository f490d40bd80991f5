// k-means: nearest centre for each point, sums with atomics, until no point moves.
#include "../check.cuh"

const int K = 5;

__host__ __device__ inline int nearest(float2 p, const float2 *centres) {
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < K; k++) {
        float dx = p.x - centres[k].x, dy = p.y - centres[k].y, d = dx * dx + dy * dy;
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

__global__ void assign(const float2 *points, const float2 *centres, int *member, double *sums, int *counts, int n,
                       int *n_moved) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = nearest(points[i], centres);
    if (member[i] != k)
        atomicAdd(n_moved, 1);
    member[i] = k;
    atomicAdd(&sums[2 * k], points[i].x);
    atomicAdd(&sums[2 * k + 1], points[i].y);
    atomicAdd(&counts[k], 1);
}

int main() {
    const int n = 600;
    Random random(26);
    std::vector<float2> points(n), centres(K);
    for (int i = 0; i < n; i++)
        points[i] = make_float2(i % K * 3 + random.uniform(), i % K % 2 * 4 + random.uniform());
    for (int k = 0; k < K; k++)
        centres[k] = points[k];
    Device<float2> dp(points), dc(K);
    Device<int> member(std::vector<int>(n, -1)), counts(K), moved(1);
    Device<double> sums(2 * K);
    int n_moved = 1, n_rounds = 0;
    for (; n_moved; n_rounds++) {
        dc.put(centres);
        CUDA(cudaMemset(sums, 0, 2 * K * sizeof(double)));
        CUDA(cudaMemset(counts, 0, K * sizeof(int)));
        CUDA(cudaMemset(moved, 0, sizeof(int)));
        assign<<<blocks_of(n, 128), 128>>>(dp, dc, member, sums, counts, n, moved);
        n_moved = moved.get()[0];
        std::vector<double> s = sums.get();
        std::vector<int> c = counts.get();
        for (int k = 0; k < K; k++)
            centres[k] = make_float2(s[2 * k] / c[k], s[2 * k + 1] / c[k]);
    }
    EXPECT(n_rounds > 1 && n_rounds < 20);
    std::vector<int> got = member.get();
    for (int i = 0; i < n; i++)
        EXPECT(got[i] == i % K && got[i] == nearest(points[i], centres.data()));
    return 0;
}
