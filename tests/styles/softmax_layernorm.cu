#include <cuda_fp16.h>
__device__ float warp_sum(float v) {
    for (int i = 16; i; i >>= 1)
        v += __shfl_xor_sync(~0u, v, i);
    return v;
}
__device__ float warp_max(float v) {
    for (int i = 16; i; i >>= 1)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, i));
    return v;
}
__global__ void softmax(const __half2 *in, __half2 *out, int n) {
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float2 f = __half22float2(in[blockIdx.x * n + i]);
        m = fmaxf(m, fmaxf(f.x, f.y));
    }
    m = warp_max(m);
    for (int i = threadIdx.x; i < n; i += 32) {
        float2 f = __half22float2(in[blockIdx.x * n + i]);
        s += __expf(f.x - m) + __expf(f.y - m);
    }
    s = 1 / warp_sum(s);
    for (int i = threadIdx.x; i < n; i += 32) {
        float2 f = __half22float2(in[blockIdx.x * n + i]);
        out[blockIdx.x * n + i] = __floats2half2_rn(__expf(f.x - m) * s, __expf(f.y - m) * s);
    }
}
__global__ void layernorm(const float4 *in, float4 *out, float eps) {
    float4 v = in[blockIdx.x * 32 + threadIdx.x];
    float mean = warp_sum(v.x + v.y + v.z + v.w) / 128, d = v.x - mean,
          var = warp_sum(d * d + (v.y - mean) * (v.y - mean));
    float r = rsqrtf(var / 128 + eps);
    v.x = d * r;
    out[blockIdx.x * 32 + threadIdx.x] = v;
}
