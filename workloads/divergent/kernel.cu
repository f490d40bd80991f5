// Odd and even threads take different paths, each with a loop whose trip count is data.
#include <heddle/device.h>

static __device__ __forceinline__ unsigned mix(int i, int t) {
    unsigned r;
    if (i & 1) {
        float x = 1.0f + (float)(i & 255);
#pragma unroll 1
        for (int k = 0; k < 2 * t; k++)
            x = x * 0.5f + 3.0f;
        r = __float_as_uint(x);
    } else {
        r = (unsigned)i;
#pragma unroll 1
        for (int k = 0; k < t; k++) {
            r = r * 1664525u + 1013904223u;
            if (r & 0x10000u)
                r ^= r >> 7;
        }
    }
    return r;
}

extern "C" __global__ void divergent(const int *trip, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = mix(i, trip[i]);
}

extern "C" __global__ void divergent_strided(const int *trip, unsigned *out, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = mix(i, trip[i]);
}
