#include <cuda.h>
#include <cuda/barrier>
__global__ void all(const __grid_constant__ CUtensorMap map, int *o) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int t[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) {
        init(&b, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(t, &map, 0, 0, b);
    b.arrive_and_wait();
    o[threadIdx.x] = t[threadIdx.x];
#endif
}
