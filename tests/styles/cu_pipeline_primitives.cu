#include <cuda_pipeline.h>
__global__ void two(const int4 *in, int4 *out, int n) {
    __shared__ int4 t[2][64];
    __pipeline_memcpy_async(&t[0][threadIdx.x], in + threadIdx.x, 16);
    __pipeline_commit();
    for (int i = 0; i < n; i++) {
        __pipeline_memcpy_async(&t[(i + 1) & 1][threadIdx.x], in + (i + 1) * 64 + threadIdx.x, 16, i == n - 1 ? 16 : 0);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[i * 64 + threadIdx.x] = t[i & 1][63 - threadIdx.x];
        __syncthreads();
    }
}
