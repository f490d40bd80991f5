__constant__ float w[9];
__global__ void conv(const float *in, float *out, int W, int H) {
    __shared__ float t[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = threadIdx.y; j < 18; j += 16)
        for (int i = threadIdx.x; i < 18; i += 16) {
            int u = min(max((int)blockIdx.x * 16 + i - 1, 0), W - 1),
                v = min(max((int)blockIdx.y * 16 + j - 1, 0), H - 1);
            t[j][i] = in[v * W + u];
        }
    __syncthreads();
    float s = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            s += w[j * 3 + i] * t[threadIdx.y + j][threadIdx.x + i];
    if (x < W && y < H)
        out[y * W + x] = s;
}
__global__ void heat3d(const double *a, double *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y + 1;
    for (int k = 1; k < n - 1; k++) {
        long p = ((long)k * n + j) * n + i;
        b[p] = a[p] + 0.1 * (a[p - 1] + a[p + 1] + a[p - n] + a[p + n] + a[p - n * n] + a[p + n * n] - 6 * a[p]);
    }
}
