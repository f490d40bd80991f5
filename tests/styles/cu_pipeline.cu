#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void stages(const float4 *in, float *out, int n) {
    __shared__ float4 tile[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
    auto g = cg::this_thread_block();
    auto p = cuda::make_pipeline(g, &st);
    float sum = 0;
    for (int i = 0, f = 0; i < n; i++) {
        for (; f < n && f < i + 2; f++) {
            p.producer_acquire();
            cuda::memcpy_async(g, tile[f % 2], in + f * 128, cuda::aligned_size_t<16>(sizeof tile[0]), p);
            p.producer_commit();
        }
        p.consumer_wait();
        sum += tile[i % 2][threadIdx.x].x + tile[i % 2][threadIdx.x ^ 1].w;
        p.consumer_release();
    }
    out[threadIdx.x] = sum;
}
__global__ void own(const int *in, int *out) {
    __shared__ int tile[64];
    auto p = cuda::make_pipeline();
    p.producer_acquire();
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(int), p);
    p.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(p);
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
    p.consumer_release();
}
