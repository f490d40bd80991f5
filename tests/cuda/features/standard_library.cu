// libcu++: atomics, barriers and asynchronous copies of the standard library on the device, and CUB's blocks.
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/tuple>

#include "../check.cuh"

__global__ void count(cuda::atomic<int, cuda::thread_scope_device> *counter) {
    counter->fetch_add(1, cuda::memory_order_relaxed);
}

__global__ void copy_and_sum(const int *in, int *out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ int tile[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(tile + threadIdx.x, in + blockIdx.x * 128 + threadIdx.x, sizeof(int), barrier);
    barrier.arrive_and_wait();
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage storage;
    int sum = Reduce(storage).Sum(tile[127 - threadIdx.x]);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

__global__ void tuples(int *out) {
    cuda::std::array<int, 4> a = {1, 2, 3, 4};
    auto t = cuda::std::make_tuple(a[threadIdx.x % 4], 10);
    out[threadIdx.x] = cuda::std::get<0>(t) * cuda::std::get<1>(t);
}

int main() {
    cuda::atomic<int, cuda::thread_scope_device> *counter;
    CUDA(cudaMallocManaged(&counter, sizeof *counter));
    new (counter) cuda::atomic<int, cuda::thread_scope_device>(0);
    count<<<4, 64>>>(counter);
    CUDA(cudaDeviceSynchronize());
    EXPECT(counter->load() == 256);
    std::vector<int> in(512), sums(4);
    for (int i = 0; i < 512; i++) {
        in[i] = i * 3;
        sums[i / 128] += in[i];
    }
    Device<int> din(in), out(4), small(8);
    copy_and_sum<<<4, 128>>>(din, out);
    expect_equal(out.get(), sums);
    tuples<<<1, 8>>>(small);
    expect_equal(small.get(), {10, 20, 30, 40, 10, 20, 30, 40});
}
