#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void aggregate(int *counter, const int *in, int *out) {
    if (in[threadIdx.x] > 0) {
        auto g = cg::coalesced_threads();
        int base;
        if (g.thread_rank() == 0)
            base = atomicAdd(counter, g.size());
        base = g.shfl(base, 0);
        out[base + g.thread_rank()] = in[threadIdx.x];
        out[0] += cg::reduce(g, in[threadIdx.x], cg::plus<int>());
        auto l = cg::labeled_partition(g, in[threadIdx.x] & 3);
        out[1] += l.size();
        auto p = cg::binary_partition(g, in[threadIdx.x] & 1);
        out[2] = p.shfl_up(in[threadIdx.x], 1);
    }
}
