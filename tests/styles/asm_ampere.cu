#include <cstdint>
__global__ void all(uint32_t *u, const int4 *g, float *f) {
#if __CUDA_ARCH__ >= 800
    __shared__ int4 t[64];
    __shared__ uint64_t bar;
    uint32_t s = (uint32_t)__cvta_generic_to_shared(&t[threadIdx.x]), m = (uint32_t)__cvta_generic_to_shared(&bar), c;
    uint64_t st;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 4, 2;" ::"r"(s), "l"(g));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    asm volatile("cp.async.wait_all;");
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(m));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(m));
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(st) : "r"(m));
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(c)
                 : "r"(m), "l"(st));
    u[0] = c;
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(m));
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(c) : "r"(u[1]));
    u[2] = c;
    asm("fma.rn.relu.bf16x2 %0, %1, %1, %1;" : "=r"(c) : "r"(u[3]));
    u[4] = c;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(c) : "f"(f[0]));
    u[5] = c;
    asm("cvt.rn.bf16x2.f32 %0, %1, %1;" : "=r"(c) : "f"(f[1]));
    u[6] = c;
    asm("max.xorsign.abs.f32 %0, %1, %1;" : "=f"(f[2]) : "f"(f[3]));
    asm("min.NaN.f32 %0, %1, %1;" : "=f"(f[4]) : "f"(f[5]));
    asm("abs.bf16x2 %0, %1;" : "=r"(c) : "r"(u[7]));
    u[8] = c;
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(u));
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(u + 32));
    asm volatile(
        "{.reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; ld.global.L2::cache_hint.u32 %0, [%1], p;}"
        : "=r"(c)
        : "l"(u + 9));
    u[10] = c;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %1, 0;" : "=r"(c) : "r"(u[11]));
    u[12] = c;
    asm("cvt.pack.sat.u16.s32 %0, %1, %1;" : "=r"(c) : "r"(u[13]));
    u[14] = c;
    asm volatile("ld.global.L2::256B.b32 %0, [%1];" : "=r"(c) : "l"(u + 15));
    u[16] = c;
    asm volatile("szext.clamp.s32 %0, %1, 5;" : "=r"(c) : "r"(u[17]));
    u[18] = c;
    asm volatile("bmsk.clamp.b32 %0, %1, 5;" : "=r"(c) : "r"(u[19]));
    u[20] = c;
#endif
}
