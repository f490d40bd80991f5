// A picture rotated and shrunk, one pixel per thread: a thread reads the picture as a texture, filtered by the texture
// unit between its pixels and between its mip levels. Around the picture its mirror images go on.
#include <heddle/device.h>

typedef unsigned long long texture;

// The colours at (u, v), which the picture spans from 0 to 1, at a level of detail.
static __device__ __forceinline__ float4 sample(texture t, float u, float v, float level) {
    float4 c;
    asm volatile("tex.level.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(t), "f"(u), "f"(v), "f"(level));
    return c;
}

static __device__ __forceinline__ unsigned level_of(float x) { return (unsigned)(x * 255.0f + 0.5f); }

// The picture's point for pixel (x, y) is start + x * across + y * down.
extern "C" __global__ void rotate(texture picture, unsigned *out, int width, int height, float2 start, float2 across,
                                  float2 down, float level) {
    int n = width * height;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float y = (float)(i / width), x = (float)(i % width);
        float u = fmaf(y, down.x, fmaf(x, across.x, start.x)), v = fmaf(y, down.y, fmaf(x, across.y, start.y));
        float4 c = sample(picture, u, v, level);
        out[i] = level_of(c.x) | level_of(c.y) << 8 | level_of(c.z) << 16 | level_of(c.w) << 24;
    }
}
