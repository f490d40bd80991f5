// Proof of work: SHA-256 of a header with a nonce, first nonce with leading zeros by atomicMin; constant tables, byte
// swaps, funnel shifts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define checkCudaErrors(v) check((v), #v, __FILE__, __LINE__)
static void check(cudaError_t e, const char *f, const char *file, int line) {
    if (e) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)e, cudaGetErrorName(e), f);
        exit(EXIT_FAILURE);
    }
}
static const uint32_t hk[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__constant__ uint32_t dk[64];
__host__ __device__ inline uint32_t rotr(uint32_t x, int n) {
#ifdef __CUDA_ARCH__
    return __funnelshift_r(x, x, n);
#else
    return x >> n | x << (32 - n);
#endif
}
__host__ __device__ inline uint32_t K(int i) {
#ifdef __CUDA_ARCH__
    return dk[i];
#else
    return hk[i];
#endif
}
__host__ __device__ void sha256(const uint32_t in[16], uint32_t out[8]) {
    uint32_t w[64],
        s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; i++)
        w[i] = in[i];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3),
                 b = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    uint32_t v[8];
    for (int i = 0; i < 8; i++)
        v[i] = s[i];
    for (int i = 0; i < 64; i++) {
        uint32_t S1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25), ch = (v[4] & v[5]) ^ (~v[4] & v[6]),
                 t1 = v[7] + S1 + ch + K(i) + w[i];
        uint32_t S0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22),
                 mj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]), t2 = S0 + mj;
        v[7] = v[6];
        v[6] = v[5];
        v[5] = v[4];
        v[4] = v[3] + t1;
        v[3] = v[2];
        v[2] = v[1];
        v[1] = v[0];
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        out[i] = s[i] + v[i];
}
__global__ void __launch_bounds__(128) mine(uint32_t seed, uint32_t limit, uint32_t *best, uint32_t *digest) {
    uint32_t nonce = blockIdx.x * blockDim.x + threadIdx.x, m[16] = {seed, nonce, 0x80000000u};
    m[15] = 64;
    uint32_t h[8];
    sha256(m, h);
    if (h[0] < limit)
        atomicMin(best, nonce);
    uint32_t x = 0;
    for (int i = 0; i < 8; i++)
        x ^= h[i];
    atomicXor(digest, x);
}
int main(int argc, char **argv) {
    uint32_t seed = argc > 1 ? strtoul(argv[1], 0, 0) : 0xdeadbeef, n = 128 * 48, limit = 1u << 22;
    uint32_t *d;
    checkCudaErrors(cudaMalloc((void **)&d, 8));
    checkCudaErrors(cudaMemcpyToSymbol(dk, hk, sizeof hk));
    uint32_t init[2] = {~0u, 0}, r[2], e[2] = {~0u, 0};
    checkCudaErrors(cudaMemcpy(d, init, 8, cudaMemcpyHostToDevice));
    mine<<<n / 128, 128>>>(seed, limit, d, d + 1);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaMemcpy(r, d, 8, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m[16] = {seed, i, 0x80000000u}, h[8];
        m[15] = 64;
        sha256(m, h);
        if (h[0] < limit && e[0] == ~0u)
            e[0] = i;
        for (int k = 0; k < 8; k++)
            e[1] ^= h[k];
    }
    printf("nonce %u digest %08x\n", r[0], r[1]);
    checkCudaErrors(cudaFree(d));
    if (memcmp(r, e, 8)) {
        printf("FAILED: %u %08x\n", e[0], e[1]);
        return EXIT_FAILURE;
    }
    puts("PASSED");
    return EXIT_SUCCESS;
}
