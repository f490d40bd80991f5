#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const int *i, const char *f, int *o, int *k, int n) {
    return cub::DevicePartition::Flagged(d, b, i, f, o, k, n);
}
