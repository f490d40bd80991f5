#include <cub/cub.cuh>
__global__ void exchange(int4 *data) {
    using X = cub::BlockExchange<int4, 64, 3>;
    __shared__ X::TempStorage t;
    int4 v[3];
    for (int i = 0; i < 3; i++)
        v[i] = data[i * 64 + threadIdx.x];
    X(t).StripedToBlocked(v, v);
    for (int i = 0; i < 3; i++)
        data[i * 64 + threadIdx.x] = v[i];
}
__global__ void discontinuity(const int *in, int *flags) {
    using D = cub::BlockDiscontinuity<int, 64>;
    __shared__ D::TempStorage t;
    int v[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]}, f[2];
    D(t).FlagHeads(f, v, cuda::std::not_equal_to<>());
    flags[2 * threadIdx.x] = f[0];
    flags[2 * threadIdx.x + 1] = f[1];
}
