#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void tiles(int *d, float *f) {
    auto b = cg::this_thread_block();
    auto t = cg::tiled_partition<16>(b);
    auto u = cg::tiled_partition<4>(t);
    int v = d[b.thread_rank()];
    v += cg::reduce(t, v, cg::plus<int>()) + cg::reduce(u, v, cg::bit_xor<int>()) + t.shfl_down(v, 1) +
         t.ballot(v > 0) + u.any(v) + t.match_any(v);
    f[b.thread_rank()] = cg::inclusive_scan(t, f[b.thread_rank()]);
    v += cg::exclusive_scan(u, v, cg::greater<int>());
    f[b.thread_rank()] += cg::reduce(t, f[b.thread_rank()], cg::less<float>());
    d[b.thread_rank()] = v + t.meta_group_rank() + t.num_threads();
}
