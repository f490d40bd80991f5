// Several host threads at once, each with its own default stream (nvcc --default-stream per-thread) and data.
#include <thread>

#include "../check.cuh"

__global__ void add(int *data, int what, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += what;
}

static void work(int number) {
    const int n = 2000;
    std::vector<int> in(n, number), expected(n, number + 10);
    Device<int> data(in);
    for (int i = 0; i < 10; i++)
        add<<<blocks_of(n, 256), 256>>>(data, 1, n);
    CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    expect_equal(data.get(), expected);
    EXPECT(cudaMalloc(nullptr, 8) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++)
        threads.emplace_back(work, i * 100);
    for (std::thread &thread : threads)
        thread.join();
    EXPECT(cudaGetLastError() == cudaSuccess);
}
