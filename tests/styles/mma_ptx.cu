#include <cstdint>
__device__ void mma(float *d, const uint32_t *a, const uint32_t *b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__global__ void gemm(const int4 *in, float *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ int4 t[64];
    t[threadIdx.x] = in[threadIdx.x];
    t[threadIdx.x + 32] = in[threadIdx.x + 32];
    __syncthreads();
    uint32_t a[4], b[2], s = (uint32_t)__cvta_generic_to_shared(&t[threadIdx.x]);
    float d[4] = {};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(s));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1])
                 : "r"(s + 512));
    mma(d, a, b);
    for (int i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
#endif
}
__global__ void other(const uint32_t *in, int *o, double *f) {
#if __CUDA_ARCH__ >= 800
    int d[4] = {0, 0, 0, 0};
    uint32_t a = in[threadIdx.x], b = in[32 + threadIdx.x];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%4,%5,%5}, {%4,%5}, "
                 "{%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a), "r"(b));
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%4,%5,%5}, {%4,%5}, "
                 "{%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a), "r"(b));
    asm volatile(
        "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%3,%3}, {%2,%3,%2,%3}, {%0,%1}, %4, 0x0;"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a), "r"(b), "r"(0x44444444));
    double x = f[0], y = f[1];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(x), "+d"(y)
                 : "d"(f[2]), "d"(f[3]));
    f[0] = x;
    f[1] = y;
    o[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
#endif
}
__global__ void hopper(const uint32_t *in, uint32_t *o, float *f) {
#if __CUDA_ARCH__ >= 900
    __shared__ uint4 t[32];
    uint32_t a = in[threadIdx.x], s = (uint32_t)__cvta_generic_to_shared(&t[threadIdx.x]), m;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(s), "r"(a));
    __syncwarp();
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(m) : "r"(a));
    o[threadIdx.x] = m + t[threadIdx.x].x;
    float d[4] = {0, 0, 0, 0};
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a));
    f[threadIdx.x] = d[0] + d[3];
#endif
}
