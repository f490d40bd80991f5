#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const int *i, int *u, int *c, int *k, int n) {
    return cub::DeviceRunLengthEncode::Encode(d, b, i, u, c, k, n);
}
