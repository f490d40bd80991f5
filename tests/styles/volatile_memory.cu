__global__ void all(volatile int *v, volatile float4 *f, int *o) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = v[threadIdx.x];
    s[threadIdx.x] += s[threadIdx.x ^ 1];
    o[threadIdx.x] = s[threadIdx.x] + v[1];
    f[0].x = f[1].y;
}
