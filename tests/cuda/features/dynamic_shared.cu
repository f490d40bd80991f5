// Shared memory whose size the launch gives, also more than a kernel may have without asking.
#include "../check.cuh"

extern __shared__ int pool[];

__global__ void reverse(int *data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        pool[i] = data[blockIdx.x * n + i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[blockIdx.x * n + i] = pool[n - 1 - i];
}

// Several arrays in one piece of shared memory.
__global__ void divided(double *out, int n) {
    double *doubles = reinterpret_cast<double *>(pool);
    short *shorts = reinterpret_cast<short *>(doubles + n);
    doubles[threadIdx.x] = threadIdx.x * 0.5;
    shorts[threadIdx.x] = static_cast<short>(threadIdx.x * 3);
    __syncthreads();
    int other = (threadIdx.x + 1) % n;
    out[threadIdx.x] = doubles[other] + shorts[other];
}

static void test_reverse(int n) {
    const int n_blocks = 3;
    std::vector<int> in(n * n_blocks), expected(n * n_blocks);
    for (size_t i = 0; i < in.size(); i++) {
        in[i] = static_cast<int>(i);
        expected[i] = static_cast<int>(i / n * n + (n - 1 - i % n));
    }
    Device<int> data(in);
    reverse<<<n_blocks, 128, n * sizeof(int)>>>(data, n);
    expect_equal(data.get(), expected);
}

int main() {
    test_reverse(1000);
    int standard, most;
    CUDA(cudaDeviceGetAttribute(&standard, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(most >= standard);
    reverse<<<1, 32, most + 1024>>>(nullptr, 0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, reverse));
    EXPECT(attributes.maxDynamicSharedSizeBytes == most);
    test_reverse(most / 4);
    Device<double> out(64);
    divided<<<1, 64, 64 * (sizeof(double) + sizeof(short))>>>(out, 64);
    std::vector<double> expected(64);
    for (int i = 0; i < 64; i++)
        expected[i] = (i + 1) % 64 * 3.5;
    expect_equal(out.get(), expected);
    return 0;
}
