// The cheapest way down a grid, row by row, in the style of Rodinia's pathfinder.
#include "../check.cuh"

__global__ void row(const int *wall, const int *above, int *here, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n)
        return;
    int best = above[x];
    if (x > 0)
        best = min(best, above[x - 1]);
    if (x < n - 1)
        best = min(best, above[x + 1]);
    here[x] = wall[x] + best;
}

int main() {
    const int n = 700, n_rows = 12;
    Random random(14);
    std::vector<int> wall(n * n_rows), cost(n), next(n);
    for (int &w : wall)
        w = random.below(10);
    cost.assign(wall.begin(), wall.begin() + n);
    Device<int> dw(wall), a(cost), b(n);
    for (int y = 1; y < n_rows; y++) {
        row<<<blocks_of(n, 128), 128>>>(dw.data + y * n, y % 2 ? a : b, y % 2 ? b : a, n);
        for (int x = 0; x < n; x++)
            next[x] = wall[y * n + x] + std::min(cost[x], std::min(cost[x ? x - 1 : 0], cost[x < n - 1 ? x + 1 : x]));
        cost.swap(next);
    }
    expect_equal(n_rows % 2 ? a.get() : b.get(), cost);
    return 0;
}
