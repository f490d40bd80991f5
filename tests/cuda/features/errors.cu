// Errors as CUDA has them: some are forgotten once read, a kernel's fault stays.
#include <cstring>

#include "../check.cuh"

__global__ void nothing() {}
__global__ void wild(int *p) { *p = 1; }

int main() {
    void *memory;
    EXPECT(cudaMalloc(&memory, size_t(1) << 60) == cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);
    nothing<<<1, 2048>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<0, 1>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaSetDevice(3) == cudaErrorInvalidDevice);
    EXPECT(cudaFree(reinterpret_cast<void *>(0x1234)) == cudaErrorInvalidValue);
    EXPECT(cudaEventQuery(nullptr) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    nothing<<<1, 32>>>();
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));

    CUDA(cudaMalloc(&memory, 1024));
    wild<<<1, 1>>>(reinterpret_cast<int *>(8));
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaMemset(memory, 0, 1024) == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    nothing<<<1, 1>>>();
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    CUDA(cudaDeviceReset());
    CUDA(cudaMalloc(&memory, 1024));
    nothing<<<1, 1>>>();
    CUDA(cudaDeviceSynchronize());
}
