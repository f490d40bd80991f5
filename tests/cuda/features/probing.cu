// What careful programs try and survive: too wide launches, invalid devices, out of memory with a smaller second try,
// features asked for and done without. Ends well, so the exit status is 0.
#include <cstdio>
__global__ void fill(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i * 3;
}
template <int N> __global__ void greedy(int *p) {
    extern __shared__ int s[];
    s[threadIdx.x] = N;
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
int main() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || !count)
        return 1;
    if (cudaSetDevice(count) == cudaSuccess)
        return 2;
    cudaGetLastError();
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, -1) == cudaSuccess)
        return 3;
    cudaGetLastError();
    int threads = 4096;
    int *d = nullptr;
    size_t ask = size_t(1) << 50;
    while (cudaMalloc(&d, ask) != cudaSuccess) {
        cudaGetLastError();
        ask /= 2;
        if (!ask)
            return 4;
    }
    cudaFree(d);
    if (cudaMalloc(&d, 4096 * 4) != cudaSuccess)
        return 5;
    for (;; threads /= 2) {
        fill<<<(4096 + threads - 1) / threads, threads>>>(d, 4096);
        if (cudaPeekAtLastError() == cudaSuccess)
            break;
        if (cudaGetLastError() == cudaSuccess || threads == 1)
            return 6;
    }
    size_t shared = 1 << 20;
    for (;; shared -= 1024) {
        greedy<7><<<1, 64, shared>>>(d + 64);
        if (cudaGetLastError() == cudaSuccess)
            break;
        if (shared < 8192)
            return 7;
    }
    cudaFuncAttributes a;
    if (cudaFuncGetAttributes(&a, (const void *)main) == cudaSuccess)
        return 8;
    cudaGetLastError();
    if (cudaFuncSetAttribute(greedy<9>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24) == cudaSuccess)
        return 9;
    cudaGetLastError();
    if (cudaMemcpy(d, nullptr, 4, cudaMemcpyHostToDevice) == cudaSuccess)
        return 10;
    cudaGetLastError();
    if (cudaMemcpyToSymbol((const void *)&count, &count, 4) == cudaSuccess)
        return 11;
    cudaGetLastError();
    if (cudaStreamSynchronize((cudaStream_t)0x1234) == cudaSuccess)
        return 12;
    cudaGetLastError();
    int can = 1;
    if (count > 1 && cudaDeviceCanAccessPeer(&can, 0, 1))
        return 13;
    if (cudaDeviceEnablePeerAccess(0, 0) == cudaSuccess)
        return 14;
    cudaGetLastError();
    if (cudaEventElapsedTime(nullptr, nullptr, nullptr) == cudaSuccess)
        return 15;
    cudaGetLastError();
    int h[4096];
    if (cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost))
        return 16;
    for (int i = 0; i < 4096; i++)
        if (h[i] != (i < 64 || i >= 128 ? i * 3 : 7))
            return 17;
    printf("%d threads, %zu bytes shared\n", threads, shared);
    return 0;
}
