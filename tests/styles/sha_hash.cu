#include <cstdint>
__constant__ uint32_t K[64];
__device__ uint32_t rot(uint32_t x, int n) { return __funnelshift_r(x, x, n); }
__global__ void sha256(const uint32_t *in, uint32_t *out) {
    uint32_t w[64], h[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 16; i++)
        w[i] = __byte_perm(in[threadIdx.x * 16 + i], 0, 0x123);
#pragma unroll
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rot(w[i - 15], 7) ^ rot(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (rot(w[i - 2], 17) ^ rot(w[i - 2], 19) ^ w[i - 2] >> 10);
#pragma unroll
    for (int i = 0; i < 64; i++) {
        uint32_t t = h[7] + (rot(h[4], 6) ^ rot(h[4], 11) ^ rot(h[4], 25)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) + K[i] +
                     w[i],
                 u = (rot(h[0], 2) ^ rot(h[0], 13) ^ rot(h[0], 22)) + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (int j = 7; j; j--)
            h[j] = h[j - 1];
        h[4] += t;
        h[0] = t + u;
    }
    for (int j = 0; j < 8; j++)
        out[threadIdx.x * 8 + j] = h[j];
}
