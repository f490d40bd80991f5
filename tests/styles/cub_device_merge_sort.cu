#include <cub/cub.cuh>
struct cmp {
    __device__ bool operator()(int a, int b) const { return a > b; }
};
cudaError_t run(void *d, size_t &b, int *k, int n) { return cub::DeviceMergeSort::SortKeys(d, b, k, n, cmp()); }
