__global__ void query(int *d) {
    int v;
    cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0);
    d[1] = v;
}
