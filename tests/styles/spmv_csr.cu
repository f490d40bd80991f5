__global__ void spmv(const int *row, const int *col, const double *v, const double *x, double *y, int n) {
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x & 31;
    if (w >= n)
        return;
    double s = 0;
    for (int i = row[w] + l; i < row[w + 1]; i += 32)
        s = fma(v[i], __ldg(x + col[i]), s);
    for (int i = 16; i; i >>= 1)
        s += __shfl_down_sync(~0u, s, i);
    if (!l)
        y[w] = s;
}
