#include <cstdint>
__global__ void mul256(const uint64_t *a, const uint64_t *b, uint64_t *c) {
    uint64_t r[8] = {};
    for (int i = 0; i < 4; i++) {
        unsigned __int128 k = 0;
        for (int j = 0; j < 4; j++) {
            k += (unsigned __int128)a[i] * b[j] + r[i + j];
            r[i + j] = (uint64_t)k;
            k >>= 64;
        }
        r[i + 4] = (uint64_t)k;
    }
    for (int i = 0; i < 8; i++)
        c[i] = r[i];
}
