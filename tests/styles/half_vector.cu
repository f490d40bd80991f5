#include <cuda_fp16.h>
__global__ void all(__half2 *h, float2 *f, unsigned *m) {
    __half2 a = h[0], b = h[1], c = h[2];
    h[3] = __hadd2(a, b);
    h[4] = __hfma2(a, b, c);
    h[5] = __h2div(a, b);
    h[6] = h2exp(a);
    h[7] = h2sqrt(a);
    h[8] = h2tanh(a);
    h[9] = __hmax2(a, b);
    h[10] = __hmin2_nan(a, c);
    h[11] = __hmul2_sat(a, b);
    h[12] = __hfma2_relu(a, b, c);
    h[13] = __lowhigh2highlow(a);
    h[14] = __lows2half2(a, b);
    h[15] = __hcmadd(a, b, c);
    h[16] = h2sin(a);
    h[17] = h2rcp(a);
    h[18] = h2log(b);
    h[19] = h2rint(c);
    h[20] = __habs2(a);
    h[21] = __hneg2(a);
    h[22] = h2exp2(a);
    m[0] = __hlt2_mask(a, b);
    m[1] = __heq2_mask(a, c);
    m[2] = __hbgt2(a, b);
    h[23] = __hle2(a, b);
    h[24] = __hequ2(a, b);
    h[25] = __hisnan2(a);
    f[0] = __half22float2(a);
    h[26] = __float22half2_rn(f[1]);
    h[27] = __floats2half2_rn(f[2].x, f[3].y);
    h[28] = __half2half2(__low2half(a));
    atomicAdd(h + 30, a);
    h[29] = __shfl_down_sync(~0u, a, 2);
    h[31] = __ldcs(h + 33);
    h[32] = __hadd2_rn(a, b);
    h[34] = h2tanh_approx(a);
}
