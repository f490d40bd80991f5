__global__ void copies(int *d) {
    cudaGetDevice(d);
    cudaMemcpyAsync(d + 2, d, 4, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(d + 3, 0, 4, 0);
}
