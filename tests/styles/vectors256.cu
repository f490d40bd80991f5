__global__ void all(double4 *d, longlong4 *l, ulonglong4_16a *u) {
    d[0] = d[1];
    l[2] = l[3];
    u[0] = u[1];
}
#if __CUDA_ARCH__ >= 1000
__global__ void wide(const float *f, float *g, const double *d, double *e) {
    float a[8];
    double x[4];
    asm volatile("ld.global.v8.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
                 : "=f"(a[0]), "=f"(a[1]), "=f"(a[2]), "=f"(a[3]), "=f"(a[4]), "=f"(a[5]), "=f"(a[6]), "=f"(a[7])
                 : "l"(f));
    asm volatile("st.global.v8.f32 [%8], {%0,%1,%2,%3,%4,%5,%6,%7};" ::"f"(a[7]), "f"(a[6]), "f"(a[5]), "f"(a[4]),
                 "f"(a[3]), "f"(a[2]), "f"(a[1]), "f"(a[0]), "l"(g));
    asm volatile("ld.global.v4.f64 {%0,%1,%2,%3}, [%4];" : "=d"(x[0]), "=d"(x[1]), "=d"(x[2]), "=d"(x[3]) : "l"(d));
    asm volatile("st.global.L1::no_allocate.v4.f64 [%4], {%0,%1,%2,%3};" ::"d"(x[3]), "d"(x[2]), "d"(x[1]), "d"(x[0]),
                 "l"(e));
}
__global__ void packed(float2 *f) {
    f[0] = __fadd2_rn(f[1], f[2]);
    f[3] = __fmul2_rn(f[4], f[5]);
    f[6] = __ffma2_rn(f[7], f[8], f[9]);
}
#endif
