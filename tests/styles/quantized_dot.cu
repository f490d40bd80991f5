#include <cuda_fp16.h>
struct block_q4 {
    __half d;
    unsigned char q[16];
};
struct block_q8 {
    __half d;
    signed char q[32];
};
__global__ void dot(const block_q4 *x, const block_q8 *y, float *o, int n) {
    float s = 0;
    for (int b = threadIdx.x; b < n; b += 32) {
        int t = 0;
        for (int i = 0; i < 4; i++) {
            int v;
            memcpy(&v, x[b].q + 4 * i, 4);
            t = __dp4a(v & 0x0f0f0f0f, *(const int *)(y[b].q + 4 * i + 2 - 2), t);
            t = __dp4a((v >> 4) & 0x0f0f0f0f, ((const int *)y[b].q)[4 + i], t);
        }
        s += t * __half2float(x[b].d) * __half2float(y[b].d);
    }
    for (int i = 16; i; i /= 2)
        s += __shfl_down_sync(~0u, s, i);
    if (!threadIdx.x)
        *o = s;
}
