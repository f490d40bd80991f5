__global__ void all(__int128 *a, unsigned long long *l) {
#if __CUDA_ARCH__ >= 700
    __int128 v = a[0];
    asm("{ .reg .b128 t; mov.b128 t, {%1, %2}; mov.b128 {%0, _}, t; }" : "=l"(l[0]) : "l"(l[1]), "l"(l[2]));
    asm volatile("ld.relaxed.gpu.global.b128 %0, [%1];" : "=q"(v) : "l"(a + 1));
    asm volatile("st.release.sys.global.b128 [%0], %1;" ::"l"(a + 2), "q"(v));
#endif
#if __CUDA_ARCH__ >= 900
    __int128 o;
    asm volatile("atom.global.exch.b128 %0, [%1], %2;" : "=q"(o) : "l"(a), "q"(v));
    a[3] = o;
    asm volatile("atom.cas.b128 %0, [%1], %2, %3;" : "=q"(o) : "l"(a), "q"(v), "q"(o));
    a[4] = o;
#endif
}
