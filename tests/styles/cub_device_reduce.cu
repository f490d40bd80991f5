#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const float *i, float *o, int n) { return cub::DeviceReduce::Sum(d, b, i, o, n); }
cudaError_t run2(void *d, size_t &b, const int *i, cub::KeyValuePair<int, int> *o, int n) {
    return cub::DeviceReduce::ArgMin(d, b, i, o, n);
}
