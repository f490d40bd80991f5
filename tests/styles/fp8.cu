#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void all(__nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b, __nv_fp8x2_e4m3 *c, __nv_fp8x4_e5m2 *d, float *f, __half2 *h,
                    __nv_bfloat16 *g, double *x) {
    a[0] = __nv_fp8_e4m3(f[0]);
    b[0] = __nv_fp8_e5m2(f[1]);
    f[2] = float(a[1]);
    f[3] = float(b[1]);
    c[0] = __nv_fp8x2_e4m3(h[0]);
    h[1] = __half2(c[1]);
    d[0] = __nv_fp8x4_e5m2(make_float4(f[4], f[5], f[6], f[7]));
    a[2] = __nv_fp8_e4m3(g[0]);
    b[2] = __nv_fp8_e5m2(x[0]);
    float4 q = float4(d[1]);
    f[8] = q.x + q.w;
    a[3] = __nv_fp8_e4m3(3);
    f[9] = (int)(b[3]);
}
