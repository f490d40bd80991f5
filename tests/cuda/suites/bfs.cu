// Breadth-first search level by level until a flag says that nothing changed, in the style of Rodinia's bfs.
#include "../check.cuh"

__global__ void expand(const int *starts, const int *edges, const int *frontier, int *next, int *level, int depth,
                       int n, int *is_changed) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n || !frontier[node])
        return;
    for (int e = starts[node]; e < starts[node + 1]; e++) {
        int other = edges[e];
        if (level[other] < 0) {
            level[other] = depth;
            next[other] = 1;
            *is_changed = 1;
        }
    }
}

int main() {
    const int n = 1000;
    Random random(9);
    std::vector<int> starts(1), edges, expected(n, -1), queue(1, 0), frontier(n), level(n, -1);
    for (int i = 0; i < n; i++) {
        for (unsigned k = random.below(5); k; k--)
            edges.push_back(random.below(n));
        starts.push_back(static_cast<int>(edges.size()));
    }
    expected[0] = 0;
    for (size_t at = 0; at < queue.size(); at++)
        for (int e = starts[queue[at]]; e < starts[queue[at] + 1]; e++)
            if (expected[edges[e]] < 0) {
                expected[edges[e]] = expected[queue[at]] + 1;
                queue.push_back(edges[e]);
            }
    frontier[0] = 1;
    level[0] = 0;
    Device<int> ds(starts), de(edges), a(frontier), b(n), dl(level), flag(1);
    int *now = a, *next = b, is_changed = 1;
    for (int depth = 1; is_changed; depth++) {
        CUDA(cudaMemset(flag, 0, sizeof(int)));
        CUDA(cudaMemset(next, 0, n * sizeof(int)));
        expand<<<blocks_of(n, 128), 128>>>(ds, de, now, next, dl, depth, n, flag);
        is_changed = flag.get()[0];
        std::swap(now, next);
    }
    expect_equal(dl.get(), expected);
}
