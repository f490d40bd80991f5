// Device code of several files, linked (nvcc -rdc=true): functions, variables and constants across files.
#include "../../check.cuh"
#include "shared.cuh"

__constant__ int offsets[4];
__device__ int calls;

__global__ void run(int *out) { out[threadIdx.x] = twice(threadIdx.x) + biased(threadIdx.x); }

int main() {
    const int host_offsets[4] = {100, 200, 300, 400};
    CUDA(cudaMemcpyToSymbol(offsets, host_offsets, sizeof host_offsets));
    Device<int> out(64);
    run<<<1, 64>>>(out);
    std::vector<int> expected(64);
    for (int i = 0; i < 64; i++)
        expected[i] = 2 * i + i + host_offsets[i % 4];
    expect_equal(out.get(), expected);
    int n;
    CUDA(cudaMemcpyFromSymbol(&n, calls, sizeof n));
    EXPECT(n == 64);
    launch_from_other_file(out);
    expect_equal(out.get(), std::vector<int>(64, 64));
}
