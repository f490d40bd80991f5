__global__ void child(int *d, int n) {
    if (threadIdx.x < n)
        d[threadIdx.x] += n;
}
__global__ void parent(int *d) {
    if (threadIdx.x == 0) {
        child<<<1, 32>>>(d, 5);
        child<<<2, 32, 128, cudaStreamTailLaunch>>>(d + 32, 7);
        child<<<1, 32, 0, cudaStreamFireAndForget>>>(d, 1);
        d[40] = cudaGetLastError();
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        child<<<1, 1, 0, s>>>(d, 2);
        cudaStreamDestroy(s);
    }
}
