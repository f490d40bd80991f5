__global__ void query(int *d) {
    int v;
    cudaGetDevice(d);
    cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0);
    d[1] = v;
    cudaMemcpyAsync(d + 2, d, 4, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(d + 3, 0, 4, 0);
}
