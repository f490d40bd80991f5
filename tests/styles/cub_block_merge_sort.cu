#include <cub/cub.cuh>
struct less_than {
    __device__ bool operator()(double a, double b) const { return a < b; }
};
__global__ void sort(double *data) {
    using S = cub::BlockMergeSort<double, 64, 4>;
    __shared__ S::TempStorage t;
    double k[4];
    cub::LoadDirectBlocked(threadIdx.x, data, k);
    S(t).Sort(k, less_than());
    cub::StoreDirectBlocked(threadIdx.x, data, k);
}
