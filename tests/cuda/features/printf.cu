// printf from kernels. The program prints; the test compares.
#include "../check.cuh"

__global__ void speak(const char *who, double x) {
    if (threadIdx.x % 2)
        printf("block %d thread %u: %s %5.2f %c%% %lld %#x\n", blockIdx.x, threadIdx.x, who, x, 'c', 1ll << 40, 255);
}

int main() {
    char *who;
    CUDA(cudaMallocManaged(&who, 8));
    for (int i = 0; i < 6; i++)
        who[i] = "hello"[i];
    speak<<<1, 4>>>(who, 2.5);
    CUDA(cudaDeviceSynchronize());
    printf("end\n");
}
