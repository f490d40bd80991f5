#include <cub/cub.cuh>
template <cub::BlockReduceAlgorithm A> __device__ int sum(const int *in) {
    using R = cub::BlockReduce<int, 128, A>;
    __shared__ typename R::TempStorage t;
    return R(t).Sum(in[blockIdx.x * 128 + threadIdx.x]);
}
__global__ void raking(const int *in, int *out) {
    int s = sum<cub::BLOCK_REDUCE_RAKING>(in);
    if (!threadIdx.x)
        out[blockIdx.x] = s;
}
__global__ void shuffles(const int *in, int *out) {
    int s = sum<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in);
    if (!threadIdx.x)
        out[blockIdx.x] = s;
}
