// Stream compaction: warps vote, one lane reserves room with an atomic.
#include <algorithm>

#include "../check.cuh"

__global__ void keep(const int *in, int *out, int *n_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool is_kept = i < n && in[i] % 3 == 0;
    unsigned votes = __ballot_sync(0xffffffff, is_kept);
    int base = 0;
    if (lane == 0)
        base = atomicAdd(n_out, __popc(votes));
    base = __shfl_sync(0xffffffff, base, 0);
    if (is_kept)
        out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

int main() {
    const int n = 5000;
    std::vector<int> in(n), expected;
    for (int i = 0; i < n; i++) {
        in[i] = i * 37 % 1009;
        if (in[i] % 3 == 0)
            expected.push_back(in[i]);
    }
    Device<int> din(in), out(n), count(1);
    CUDA(cudaMemset(count, 0, sizeof(int)));
    keep<<<blocks_of(n, 256), 256>>>(din, out, count, n);
    int n_out = count.get()[0];
    EXPECT(n_out == static_cast<int>(expected.size()));
    std::vector<int> got = out.get();
    got.resize(n_out);
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    expect_equal(got, expected);
    return 0;
}
