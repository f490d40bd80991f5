#include <cub/cub.cuh>
__global__ void all(const int *in, int *out, double *d) {
    using R = cub::WarpReduce<int>;
    using S = cub::WarpScan<int, 16>;
    using M = cub::WarpMergeSort<int, 4, 32>;
    using D = cub::WarpReduce<double>;
    __shared__ R::TempStorage r[4];
    __shared__ S::TempStorage s[8];
    __shared__ M::TempStorage m[4];
    __shared__ D::TempStorage dd[4];
    int w = threadIdx.x / 32, v = in[threadIdx.x], k[4] = {v, v ^ 5, v * 3, -v}, x;
    int sum = R(r[w]).Sum(v), seg = R(r[w]).HeadSegmentedSum(v, v & 1);
    S(s[threadIdx.x / 16]).InclusiveSum(v, x);
    M(m[w]).Sort(k, cuda::std::less<>());
    d[threadIdx.x] = D(dd[w]).Reduce(d[threadIdx.x], cuda::maximum<>());
    out[threadIdx.x] = sum + seg + x + k[0] + 3 * k[3];
}
