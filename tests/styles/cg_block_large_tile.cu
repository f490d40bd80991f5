#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void large(int *d) {
    __shared__ cg::block_tile_memory<256> m;
    auto b = cg::this_thread_block(m);
    auto t = cg::tiled_partition<128>(b);
    int v = cg::reduce(t, d[b.thread_rank()], cg::plus<int>());
    t.sync();
    d[b.thread_rank()] = v + t.shfl(v, 3);
}
