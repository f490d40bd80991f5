// Merge sort: every thread merges two runs; runs grow until one is left.
#include <algorithm>

#include "../check.cuh"

__global__ void merge(const int *in, int *out, int n, int run) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * run;
    if (first >= n)
        return;
    int middle = min(first + run, n), end = min(first + 2 * run, n), a = first, b = middle;
    for (int i = first; i < end; i++)
        out[i] = a < middle && (b >= end || in[a] <= in[b]) ? in[a++] : in[b++];
}

int main() {
    const int n = 1500;
    Random random(19);
    std::vector<int> data(n);
    for (int &x : data)
        x = static_cast<int>(random.below(5000)) - 2500;
    Device<int> a(data), b(n);
    bool is_in_a = true;
    for (int run = 1; run < n; run *= 2, is_in_a = !is_in_a)
        merge<<<blocks_of(n, 2 * run * 64), 64>>>(is_in_a ? a : b, is_in_a ? b : a, n, run);
    std::sort(data.begin(), data.end());
    expect_equal(is_in_a ? a.get() : b.get(), data);
    return 0;
}
