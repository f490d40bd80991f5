#include <cstdint>
__global__ void all(float *f, uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    float d[4] = {0, 0, 0, 0};
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, "
                 "%4, %5, p, 1, 1, 0, 0;}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 0;");
    f[threadIdx.x] = d[0];
    asm volatile("setmaxnreg.inc.sync.aligned.u32 128;");
#endif
}
