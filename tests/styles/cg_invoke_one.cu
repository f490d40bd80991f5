#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void one(int *d) {
    auto t = cg::tiled_partition<32>(cg::this_thread_block());
    int v = cg::invoke_one_broadcast(t, [&] { return atomicAdd(d, 32); });
    d[v & 31] = v;
    cg::invoke_one(cg::coalesced_threads(), [&] { atomicAdd(d + 1, 1); });
}
