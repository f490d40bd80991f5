// Where a GPU runs the blocks of clusters: how many clusters fit at once, which SMs form a GPC, and in which order
// clusters start. Needs nvcc: nvcc -O2 -arch=sm_90 -o places bench/hardware/places.cu && ./places
// Each line is name,parameter,value; `places` names the SMs of the blocks of a cluster, in the order of their ranks.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t result = (call);                                                                                   \
        if (result != cudaSuccess) {                                                                                   \
            fprintf(stderr, "places: %s: %s\n", #call, cudaGetErrorString(result));                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// Keeps its place until all blocks that fit have started.
__global__ void where(unsigned *sm, unsigned long long *start, unsigned cycles) {
    extern __shared__ char memory[];
    unsigned id;
    unsigned long long now;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    cooperative_groups::this_cluster().sync();
    if (threadIdx.x == 0) {
        sm[blockIdx.x] = id;
        start[blockIdx.x] = now;
        long long first = clock64();
        while (clock64() - first < cycles)
            ;
    }
    cooperative_groups::this_cluster().sync();
}

static unsigned root(std::vector<unsigned> &parent, unsigned i) {
    while (parent[i] != i)
        i = parent[i];
    return i;
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const unsigned n_sms = (unsigned)device.multiProcessorCount;
    const size_t most = device.sharedMemPerBlockOptin;
    unsigned *sm;
    unsigned long long *start;
    CHECK(cudaMallocManaged(&sm, 4096 * sizeof *sm));
    CHECK(cudaMallocManaged(&start, 4096 * sizeof *start));
    CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
    CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    std::vector<unsigned> parent(n_sms);
    for (unsigned i = 0; i < n_sms; i++)
        parent[i] = i;
    for (int is_small = 0; is_small < 2; is_small++)
        for (unsigned size = 1; size <= 16; size++) {
            cudaLaunchAttribute attribute;
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim.x = size;
            attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
            cudaLaunchConfig_t config = {};
            config.gridDim = dim3(size * 64);
            config.blockDim = dim3(32);
            config.dynamicSmemBytes = is_small ? 1024 : most;
            config.attrs = &attribute;
            config.numAttrs = 1;
            int n = 0;
            cudaError_t result = cudaOccupancyMaxActiveClusters(&n, where, &config);
            printf("%s,%u,%d\n", is_small ? "max_active_small" : "max_active", size, result == cudaSuccess ? n : -1);
            cudaGetLastError();
            if (result != cudaSuccess || n == 0 || (size & (size - 1)))
                continue;
            unsigned n_clusters = is_small ? 24 : (unsigned)n;
            config.gridDim = dim3(size * n_clusters);
            CHECK(cudaLaunchKernelEx(&config, where, sm, start, 200000u));
            CHECK(cudaDeviceSynchronize());
            for (unsigned c = 0; c < n_clusters; c++) {
                printf("%s_%u,%u,", is_small ? "places_small" : "places", size, c);
                for (unsigned i = 0; i < size; i++) {
                    printf(i ? " %u" : "%u", sm[c * size + i]);
                    unsigned a = root(parent, sm[c * size]), b = root(parent, sm[c * size + i]);
                    parent[a > b ? a : b] = a > b ? b : a;
                }
                printf("\n");
            }
        }
    for (unsigned i = 0; i < n_sms; i++)
        printf("group_of_sm,%u,%u\n", i, root(parent, i));
    return 0;
}
