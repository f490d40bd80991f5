#include <cuda/barrier>
__global__ void phases(int *data) {
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0)
        init(&b, blockDim.x);
    __syncthreads();
    data[threadIdx.x]++;
    auto t = b.arrive();
    b.wait(std::move(t));
    data[threadIdx.x ^ 1]++;
    b.arrive_and_wait();
    if (threadIdx.x & 1)
        b.arrive_and_drop();
    else
        b.arrive_and_wait();
}
