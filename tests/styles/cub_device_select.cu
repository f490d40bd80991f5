#include <cub/cub.cuh>
struct odd {
    __device__ bool operator()(int a) const { return a & 1; }
};
cudaError_t run(void *d, size_t &b, const int *i, int *o, int *k, int n) {
    return cub::DeviceSelect::If(d, b, i, o, k, n, odd());
}
cudaError_t run2(void *d, size_t &b, const int *i, int *o, int *k, int n) {
    return cub::DeviceSelect::Unique(d, b, i, o, k, n);
}
