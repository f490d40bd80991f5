__device__ float2 mul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__global__ void fft(float2 *d) {
    __shared__ float2 s[256];
    s[__brev(threadIdx.x) >> 24] = d[blockIdx.x * 256 + threadIdx.x];
    for (int m = 1; m < 256; m *= 2) {
        __syncthreads();
        if (threadIdx.x < 128) {
            int k = threadIdx.x & (m - 1), j = (threadIdx.x - k) * 2 + k;
            float a, b;
            sincospif(-(float)k / m, &b, &a);
            float2 t = mul(make_float2(a, b), s[j + m]), u = s[j];
            s[j] = make_float2(u.x + t.x, u.y + t.y);
            s[j + m] = make_float2(u.x - t.x, u.y - t.y);
        }
    }
    __syncthreads();
    d[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}
