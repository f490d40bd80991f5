#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const float *i, float *o, int n, const int *a) {
    return cub::DeviceSegmentedReduce::Sum(d, b, i, o, n, a, a + 1);
}
