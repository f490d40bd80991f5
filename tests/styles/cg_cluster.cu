#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(1, 1, 1) one(int *d) {
#if __CUDA_ARCH__ >= 900
    __shared__ int s;
    auto c = cg::this_cluster();
    s = threadIdx.x;
    c.sync();
    int *r = c.map_shared_rank(&s, 0);
    d[threadIdx.x] = *r + c.block_rank() + c.num_blocks() + c.query_shared_rank(&s);
    c.barrier_arrive();
    c.barrier_wait();
#endif
}
