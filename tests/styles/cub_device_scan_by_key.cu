#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const int *k, const float *i, float *o, int n) {
    return cub::DeviceScan::ExclusiveSumByKey(d, b, k, i, o, n);
}
