__global__ void transpose(float *o, const float *in, int n) {
    __shared__ float t[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        t[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        o[(y + i) * n + x] = t[threadIdx.x][threadIdx.y + i];
}
__global__ void histogram(const uchar4 *in, unsigned *h, int n) {
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) {
        uchar4 v = in[i];
        atomicAdd(s + v.x, 1);
        atomicAdd(s + v.y, 1);
        atomicAdd(s + v.z, 1);
        atomicAdd(s + v.w, 1);
    }
    __syncthreads();
    atomicAdd(h + threadIdx.x, s[threadIdx.x]);
}
