// Memory in the order of a stream, from the device's pool and from one of the program.
#include "../check.cuh"

__global__ void fill(int *data, int what) { data[blockIdx.x * blockDim.x + threadIdx.x] = what; }

int main() {
    cudaStream_t stream;
    cudaMemPool_t standard, own;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceGetDefaultMemPool(&standard, 0));
    unsigned long long threshold = ~0ull, kept = 0;
    CUDA(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    CUDA(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &kept));
    EXPECT(kept == threshold);
    for (int round = 0; round < 3; round++) {
        int *data;
        std::vector<int> got(512);
        CUDA(cudaMallocAsync(&data, 512 * sizeof(int), stream));
        fill<<<4, 128, 0, stream>>>(data, round);
        CUDA(cudaMemcpyAsync(got.data(), data, 512 * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA(cudaFreeAsync(data, stream));
        CUDA(cudaStreamSynchronize(stream));
        expect_equal(got, std::vector<int>(512, round));
    }
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemPoolCreate(&own, &properties));
    int *data;
    CUDA(cudaMallocFromPoolAsync(&data, 128 * sizeof(int), own, stream));
    fill<<<1, 128, 0, stream>>>(data, 5);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(data));
    CUDA(cudaMemPoolTrimTo(own, 0));
    CUDA(cudaMemPoolDestroy(own));
    return 0;
}
