template <int T> __global__ void gemm(const float *a, const float *b, float *c, int n) {
    __shared__ float s[T][T + 1], t[T][T];
    float sum = 0;
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    for (int k = 0; k < n; k += T) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
template __global__ void gemm<16>(const float *, const float *, float *, int);
template __global__ void gemm<32>(const float *, const float *, float *, int);
