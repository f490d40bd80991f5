#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
#if __CUDA_ARCH__ >= 900
__global__ void copy(const int4 *in, int4 *out) {
    __shared__ alignas(128) int4 tile[64];
    __shared__ alignas(8) uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof tile, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    tile[threadIdx.x].x++;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
__global__ void registers(unsigned *o) {
    o[0] = ptx::get_sreg_laneid();
    o[1] = ptx::get_sreg_smid();
    o[2] = ptx::get_sreg_lanemask_lt();
    o[3] = ptx::get_sreg_nsmid();
    o[4] = ptx::get_sreg_warpid();
    o[5] = ptx::get_sreg_dynamic_smem_size();
    o[6] = (unsigned)ptx::get_sreg_gridid();
    o[7] = ptx::get_sreg_cluster_ctarank();
    o[8] = ptx::get_sreg_cluster_nctaid_x();
    o[9] = ptx::get_sreg_is_explicit_cluster();
    o[10] = (unsigned)ptx::get_sreg_globaltimer();
    o[11] = ptx::get_sreg_total_smem_size();
    o[12] = ptx::get_sreg_aggr_smem_size();
}
#endif
