// What a program asks about the device and its kernels, and launches with attributes.
#include <cstring>

#include "../check.cuh"

__global__ void __launch_bounds__(256) bounded(float *data) {
    __shared__ float tile[256];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[255 - threadIdx.x];
}

static size_t shared_for(int threads) { return threads * sizeof(float); }

int main() {
    cudaDeviceProp properties;
    int count, version, value;
    CUDA(cudaGetDeviceCount(&count));
    EXPECT(count == 1);
    CUDA(cudaGetDeviceProperties(&properties, 0));
    EXPECT(strlen(properties.name) > 0 && properties.warpSize == 32 && properties.multiProcessorCount > 0);
    EXPECT(properties.maxThreadsPerBlock == 1024 && properties.maxThreadsDim[2] == 64);
    EXPECT(properties.maxGridSize[0] == 2147483647 && properties.totalGlobalMem >= size_t(256) << 20);
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMaxRegistersPerBlock, 0));
    EXPECT(value == properties.regsPerBlock);
    CUDA(cudaDriverGetVersion(&version));
    EXPECT(version >= 11000);
    CUDA(cudaRuntimeGetVersion(&version));
    EXPECT(version == CUDART_VERSION);
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.sharedSizeBytes == 1024 && attributes.maxThreadsPerBlock == 256);
    int blocks, threads, grid;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
    EXPECT(blocks >= 1 && blocks * 256 <= properties.maxThreadsPerMultiProcessor);
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, bounded, 0, 0));
    EXPECT(threads >= 32 && threads <= 256 && grid >= properties.multiProcessorCount);
    CUDA(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &threads, bounded, shared_for));
    size_t available, total, stack;
    CUDA(cudaMemGetInfo(&available, &total));
    EXPECT(available <= total && total == properties.totalGlobalMem);
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CUDA(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    EXPECT(stack > 0);
    CUDA(cudaFuncSetCacheConfig(bounded, cudaFuncCachePreferL1));
    char bus[16];
    CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    CUDA(cudaDeviceGetByPCIBusId(&value, bus));
    EXPECT(value == 0);

    std::vector<float> in(256), expected(256);
    for (int i = 0; i < 256; i++)
        in[i] = expected[255 - i] = i;
    Device<float> data(in);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(1);
    config.blockDim = dim3(256);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&config, bounded, data.data));
    expect_equal(data.get(), expected);
    void *driver;
    cudaDriverEntryPointQueryResult found;
    CUDA(cudaGetDriverEntryPointByVersion("cuMemAlloc", &driver, 13000, cudaEnableDefault, &found));
    EXPECT(driver && found == cudaDriverEntryPointSuccess);
}
