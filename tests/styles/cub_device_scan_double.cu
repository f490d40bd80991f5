#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const double *i, double *o, long n) {
    return cub::DeviceScan::InclusiveSum(d, b, i, o, n);
}
