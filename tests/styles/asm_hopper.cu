#include <cstdint>
__global__ void all(uint32_t *u, uint64_t *l, float *f) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int t[256];
    __shared__ uint64_t bar;
    uint32_t s = (uint32_t)__cvta_generic_to_shared(t), m = (uint32_t)__cvta_generic_to_shared(&bar), c;
    asm volatile("griddepcontrol.wait;");
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("fence.proxy.async;");
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("fence.proxy.alias;");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(m));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(m));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(s),
                 "l"(u), "r"(m));
    asm volatile(
        "{.reg .pred p; L%=: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], 0; @!p bra L%=;}" ::"r"(m));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(u), "r"(s));
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group.read 0;");
    asm volatile("cp.async.bulk.wait_group 0;");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;" ::"l"(u), "r"(s));
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" ::"l"(u));
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(c));
    u[0] = c;
    asm volatile("barrier.cluster.arrive.release.aligned;");
    asm volatile("barrier.cluster.wait.acquire.aligned;");
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(c) : "r"(s));
    u[1] = c;
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(c) : "r"(s));
    u[2] = c;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(c));
    u[3] = c;
    asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%1,%1};" ::"l"(f), "f"(f[0]));
    asm volatile("red.global.add.v2.f32 [%0], {%1,%1};" ::"l"(f), "f"(f[0]));
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1,%1,%1,%1};" ::"l"(f), "r"(u[4]));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(s), "r"(1),
                 "r"(m));
#endif
}
