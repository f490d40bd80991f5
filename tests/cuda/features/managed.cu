// Memory that host and device share: managed allocations and variables, and host memory that kernels reach.
#include "../check.cuh"

__managed__ int total = 5;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void accumulate(const int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total, data[i]);
    if (i < 4)
        table[i] *= 10;
}

__global__ void increment(int *data) { data[threadIdx.x]++; }

struct Node {
    int value;
    Node *next;
};

__global__ void sum_list(const Node *first, int *out) {
    *out = 0;
    for (const Node *node = first; node; node = node->next)
        *out += node->value;
}

int main() {
    const int n = 300;
    int *data;
    CUDA(cudaMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        data[i] = i;
    total += 1;
    cudaMemLocation device = {};
    device.type = cudaMemLocationTypeDevice;
    CUDA(cudaMemAdvise(data, n * sizeof(int), cudaMemAdviseSetReadMostly, device));
    CUDA(cudaMemPrefetchAsync(data, n * sizeof(int), device, 0));
    int is_read_mostly = 0, place[2] = {9, 9};
    void *advice[] = {&place[0], &place[1]};
    size_t advice_bytes[] = {sizeof(int), sizeof(int)};
    cudaMemRangeAttribute asked[] = {cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributeLastPrefetchLocation};
    CUDA(
        cudaMemRangeGetAttribute(&is_read_mostly, sizeof(int), cudaMemRangeAttributeReadMostly, data, n * sizeof(int)));
    CUDA(cudaMemRangeGetAttributes(advice, advice_bytes, asked, 2, data, n * sizeof(int)));
    EXPECT(is_read_mostly == 1 && place[0] == cudaInvalidDeviceId && place[1] == 0);
    accumulate<<<3, 128>>>(data, n);
    CUDA(cudaDeviceSynchronize());
    EXPECT(total == 6 + n * (n - 1) / 2);
    EXPECT(table[0] == 10 && table[3] == 40);

    int *mapped, *mapped_device;
    CUDA(cudaHostAlloc(&mapped, 32 * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < 32; i++)
        mapped[i] = i * i;
    CUDA(cudaHostGetDevicePointer(&mapped_device, mapped, 0));
    increment<<<1, 32>>>(mapped_device);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(mapped[i] == i * i + 1);

    Node *nodes;
    CUDA(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
    for (int i = 0; i < 10; i++)
        nodes[i] = {i, i < 9 ? &nodes[i + 1] : nullptr};
    sum_list<<<1, 1>>>(nodes, data);
    CUDA(cudaDeviceSynchronize());
    EXPECT(data[0] == 45);
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, nodes));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    CUDA(cudaFree(nodes));
    CUDA(cudaFreeHost(mapped));
    return 0;
}
