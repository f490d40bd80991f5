#include <cub/cub.cuh>
cudaError_t run(void *d, size_t &b, const unsigned char *i, int *h, int n) {
    return cub::DeviceHistogram::HistogramEven(d, b, i, h, 257, 0, 256, n);
}
