// The knapsack problem: one launch for each thing.
#include "../check.cuh"

__global__ void offer(const int *in, int *out, int capacity, int weight, int value) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= capacity)
        out[c] = c >= weight ? max(in[c], in[c - weight] + value) : in[c];
}

int main() {
    const int capacity = 500, n = 30;
    Random random(16);
    std::vector<int> best(capacity + 1);
    Device<int> a(best), b(best);
    for (int i = 0; i < n; i++) {
        int weight = 1 + random.below(60), value = 1 + random.below(100);
        offer<<<blocks_of(capacity + 1, 128), 128>>>(i % 2 ? b : a, i % 2 ? a : b, capacity, weight, value);
        for (int c = capacity; c >= weight; c--)
            best[c] = std::max(best[c], best[c - weight] + value);
    }
    expect_equal(a.get(), best);
    return 0;
}
