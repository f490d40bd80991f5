__global__ void find(const char *t, int n, const char *p, int m, int *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - m)
        return;
    for (int j = 0; j < m; j++)
        if (t[i + j] != p[j])
            return;
    o[atomicAdd(o, 1) + 1] = i;
}
__global__ void edit(const char *a, const char *b, int *d, int n) {
    extern __shared__ short s[];
    for (int k = 0; k < 2 * n; k++) {
        int j = k - threadIdx.x;
        if (j >= 0 && j < n) {
            short v =
                min(min(s[threadIdx.x] + 1, s[threadIdx.x + 1] + 1), s[threadIdx.x + n] + (a[threadIdx.x] != b[j]));
            s[threadIdx.x + 2 * n] = v;
        }
        __syncthreads();
    }
    d[threadIdx.x] = s[threadIdx.x];
}
