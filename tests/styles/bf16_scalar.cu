#include <cuda_bf16.h>
__global__ void all(__nv_bfloat16 *h, const float *f, int *i, double *d) {
    __nv_bfloat16 a = h[0], b = h[1], c = h[2];
    h[3] = __hadd(a, b);
    h[4] = __hfma(a, b, c);
    h[5] = __hdiv(a, b);
    h[6] = hsqrt(a);
    h[7] = hexp(a);
    h[8] = hlog(a);
    h[9] = hsin(a);
    h[10] = htanh(a);
    h[11] = __hmax(a, b);
    h[12] = __hmin_nan(a, c);
    h[13] = __hfma_relu(a, b, c);
    h[14] = __float2bfloat16_rz(f[0]);
    h[15] = __double2bfloat16(d[0]);
    h[16] = __int2bfloat16_rn(i[0]);
    h[17] = hfloor(a);
    h[18] = hrint(b);
    h[19] = __habs(a);
    h[20] = __hneg(a);
    h[21] = __hsub_sat(a, b);
    h[22] = hexp2(a);
    h[23] = hrcp(a);
    h[24] = htanh_approx(a);
    i[1] = __hlt(a, b) + __hneu(a, c) + __hisnan(b);
    i[2] = __bfloat162int_rz(a);
    i[3] = (int)__bfloat162ull_rn(b);
    d[1] = __bfloat162float(c);
    atomicAdd(h + 30, a);
    h[25] = __shfl_up_sync(~0u, a, 1);
    h[26] = __ldca(h + 31);
    h[27] = __ull2bfloat16_rd(i[4]);
    h[28] = __uint2bfloat16_ru(i[5]);
}
