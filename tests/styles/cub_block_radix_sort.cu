#include <cub/cub.cuh>
__global__ void sort(const float *in, float *out, int *values) {
    using L = cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using S = cub::BlockRadixSort<float, 128, 4, int>;
    __shared__ union {
        L::TempStorage l;
        S::TempStorage s;
    } t;
    float k[4];
    int v[4] = {0, 1, 2, 3};
    L(t.l).Load(in, k);
    __syncthreads();
    S(t.s).SortBlockedToStriped(k, v);
    cub::StoreDirectStriped<128>(threadIdx.x, out, k);
    cub::StoreDirectStriped<128>(threadIdx.x, values, v);
}
