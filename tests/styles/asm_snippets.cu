#include <cstdint>
__global__ void all(uint32_t *u, float *f, uint64_t *l) {
    uint32_t a = u[0], b = u[1], c;
    uint64_t g;
    asm("lop3.b32 %0, %1, %2, %1, 0x96;" : "=r"(c) : "r"(a), "r"(b));
    u[2] = c;
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(c) : "r"(a), "r"(b));
    u[3] = c;
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(c) : "r"(a));
    u[4] = c;
    asm("bfi.b32 %0, %1, %2, 3, 7;" : "=r"(c) : "r"(a), "r"(b));
    u[5] = c;
    asm("shf.r.wrap.b32 %0, %1, %2, 5;" : "=r"(c) : "r"(a), "r"(b));
    u[6] = c;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(c));
    u[7] = c;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(c));
    u[8] = c;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
    l[0] = g;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(c));
    u[9] = c;
    asm("{.reg .u32 t; add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;}" : "=r"(u[10]), "=r"(u[11]) : "r"(a), "r"(b));
    asm("mad.lo.cc.u32 %0, %1, %2, %1; " : "=r"(c) : "r"(a), "r"(b));
    u[12] = c;
    asm("madc.hi.cc.u64 %0, %1, %1, %1;" : "=l"(g) : "l"(l[1]));
    l[2] = g;
    asm("vadd4.u32.u32.u32.add %0, %1, %2, %1;" : "=r"(c) : "r"(a), "r"(b));
    u[13] = c;
    asm("vabsdiff.u32.u32.u32.add %0, %1, %2, %1;" : "=r"(c) : "r"(a), "r"(b));
    u[14] = c;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f[0]) : "f"(f[1]));
    asm("tanh.approx.f32 %0, %1;" : "=f"(f[2]) : "f"(f[3]));
    asm("{.reg .pred p; setp.lt.f32 p, %1, 0f00000000; @p neg.f32 %0, %1; @!p mov.f32 %0, %1;}"
        : "=f"(f[4])
        : "f"(f[5]));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(u));
    asm volatile("prefetchu.L1 [%0];" ::"l"(u));
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(u[20]), "=r"(u[21]), "=r"(u[22]), "=r"(u[23])
                 : "l"(u + 24));
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(u), "r"(a));
    asm volatile("membar.gl;");
    asm volatile("fence.acq_rel.gpu;");
    asm volatile("nanosleep.u32 20;");
    asm volatile("{.reg .pred p0; isspacep.global p0, %0;}" ::"l"(u));
    asm volatile("pmevent 3;");
    asm volatile("{.reg .pred P1; W%=: setp.ne.u32 P1, %0, %0; @P1 bra W%=;}" ::"r"(a));
    asm volatile("bfind.shiftamt.u32 %0, %1;" : "=r"(c) : "r"(a));
    u[30] = c;
    asm volatile("{.reg .pred p0; testp.finite.f32 p0, %0;}" ::"f"(f[0]));
}
