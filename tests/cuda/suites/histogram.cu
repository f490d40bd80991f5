// Histogram of bytes: counts in shared memory, then added to the global ones.
#include "../check.cuh"

__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1);
    __syncthreads();
    if (local[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
    const int n = 20000;
    Random random(20);
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(256);
    for (unsigned char &x : data) {
        x = static_cast<unsigned char>(random.below(16) * random.below(16));
        expected[x]++;
    }
    Device<unsigned char> d(data);
    Device<unsigned> bins(256);
    CUDA(cudaMemset(bins, 0, 1024));
    histogram<<<6, 256>>>(d, bins, n);
    expect_equal(bins.get(), expected);
    return 0;
}
