// An if-else, some common code and another if-else, one pixel per thread; the pixel's colour decides both branches. All
// four arms have the same length: a chain of multiply-adds that moves the value towards the arm's goal.
#include <heddle/device.h>

enum { ARM_STEPS = 32, COMMON_STEPS = 8 };

// value = goal + (value - goal) * keep, as one multiply-add per step.
template <int STEPS> static __device__ __forceinline__ float draw_towards(float value, float goal, float keep) {
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        value = fmaf(value, keep, goal - goal * keep);
    return value;
}

// Bit 0 of a colour decides branch A, bit 1 branch B.
static __device__ __forceinline__ float compute(unsigned colour, float value) {
    if (colour & 1)
        value = draw_towards<ARM_STEPS>(value, 1.0f, 0.875f);
    else
        value = draw_towards<ARM_STEPS>(value, 0.0625f, 0.90625f);
    value = draw_towards<COMMON_STEPS>(value, 0.5f, 0.984375f);
    if (colour & 2)
        value = draw_towards<ARM_STEPS>(value, 0.96875f, 0.96875f);
    else
        value = draw_towards<ARM_STEPS>(value, 0.03125f, 0.9765625f);
    return value;
}

extern "C" __global__ void picture(const unsigned char *colours, const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = compute(colours[i], in[i]);
}

extern "C" __global__ void picture_strided(const unsigned char *colours, const float *in, float *out, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = compute(colours[i], in[i]);
}
