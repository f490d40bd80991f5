#include <cuda_fp4.h>
#include <cuda_fp6.h>
__global__ void all(__nv_fp4_e2m1 *a, __nv_fp6_e2m3 *b, __nv_fp6_e3m2 *c, __nv_fp4x2_e2m1 *d, float *f) {
    a[0] = __nv_fp4_e2m1(f[0]);
    b[0] = __nv_fp6_e2m3(f[1]);
    c[0] = __nv_fp6_e3m2(f[2]);
    f[3] = float(a[1]) + float(b[1]) + float(c[1]);
    d[0] = __nv_fp4x2_e2m1(make_float2(f[4], f[5]));
}
