#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const unsigned *i, unsigned *o, int n) {
    return cub::DeviceRadixSort::SortKeys(d, b, i, o, n);
}
