#include <cuda_bf16.h>
__global__ void all(__nv_bfloat162 *h, float2 *f, unsigned *m) {
    __nv_bfloat162 a = h[0], b = h[1], c = h[2];
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
    h[15] = __hcmadd(a, b, c);
    m[0] = __hlt2_mask(a, b);
    m[1] = __hbeq2(a, c);
    f[0] = __bfloat1622float2(a);
    h[16] = __float22bfloat162_rn(f[1]);
    atomicAdd(h + 20, a);
    h[17] = __shfl_xor_sync(~0u, a, 4);
    h[18] = h2tanh_approx(a);
}
