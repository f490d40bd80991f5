#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const float *i, float *o, const int *v, int *w, int n) {
    return cub::DeviceRadixSort::SortPairs(d, b, i, o, v, w, n);
}
