#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void copy(const float *in, float *out) {
    __shared__ float t[256];
    auto b = cg::this_thread_block();
    cg::memcpy_async(b, t, in, sizeof t);
    cg::wait(b);
    out[threadIdx.x] = t[255 - threadIdx.x];
    cg::memcpy_async(b, t, 100, in, 120);
    cg::wait_prior<0>(b);
    out[threadIdx.x] += t[0];
}
