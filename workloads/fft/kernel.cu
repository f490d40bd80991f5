// One pass of a radix-4 Fourier transform in Stockham's self-sorting form, one butterfly of four points per thread. A
// pass reads four quarters of one array and writes the other in the order the next pass reads, so nothing is
// bit-reversed.
#include <heddle/device.h>

static __device__ __forceinline__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ float2 subtract(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ __forceinline__ float2 multiply(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// n is a power of four; `stride` is 4^pass; roots[k] = exp(-2 pi i k / n).
extern "C" __global__ void fft_pass(const float2 *in, float2 *out, const float2 *roots, int n, int stride) {
    int quarter = n / 4;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quarter; i += gridDim.x * blockDim.x) {
        int angle = i & ~(stride - 1); // the root of the butterfly's first product
        float2 a = in[i], b = in[i + quarter], c = in[i + 2 * quarter], d = in[i + 3 * quarter];
        float2 even_sum = add(a, c), even_difference = subtract(a, c);
        float2 odd_sum = add(b, d), odd_difference = subtract(b, d);
        float2 turned = make_float2(odd_difference.y, -odd_difference.x); // by -i
        float2 *to = out + i + 3 * angle;
        to[0] = add(even_sum, odd_sum);
        to[stride] = multiply(add(even_difference, turned), roots[angle]);
        to[2 * stride] = multiply(subtract(even_sum, odd_sum), roots[2 * angle]);
        to[3 * stride] = multiply(subtract(even_difference, turned), roots[3 * angle]);
    }
}
