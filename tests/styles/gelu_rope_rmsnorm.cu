#include <cuda_bf16.h>
__global__ void gelu(__nv_bfloat16 *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = __bfloat162float(x[i]);
        x[i] = __float2bfloat16(0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v))));
    }
}
__global__ void rope(float2 *q, const float *freq, int pos) {
    float s, c;
    sincosf(pos * freq[threadIdx.x], &s, &c);
    float2 v = q[threadIdx.x];
    q[threadIdx.x] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
