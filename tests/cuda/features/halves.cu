// Half precision and bfloat16, alone and in pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../check.cuh"

__global__ void saxpy(const __half *x, __half *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma(__float2half(a), x[i], y[i]);
}

__global__ void pairs(const __half2 *x, __half2 *out, int n) {
    int i = threadIdx.x;
    if (i < n)
        out[i] = __hadd2(__hmul2(x[i], x[i]), __float2half2_rn(0.5f));
}

__global__ void rounded(const float *x, float *out, int n) {
    int i = threadIdx.x;
    if (i < n)
        out[i] = __bfloat162float(__float2bfloat16(x[i]));
}

int main() {
    const int n = 256;
    std::vector<__half> x(n), y(n);
    std::vector<float> f(n), expected(n);
    for (int i = 0; i < n; i++) {
        x[i] = __float2half(static_cast<float>(i % 8));
        y[i] = __float2half(static_cast<float>(i % 5));
        f[i] = 1 + i / 512.0f;
    }
    Device<__half> dx(x), dy(y);
    saxpy<<<1, 256>>>(dx, dy, 2, n);
    std::vector<__half> got = dy.get();
    for (int i = 0; i < n; i++)
        EXPECT(__half2float(got[i]) == 2.0f * (i % 8) + i % 5);
    Device<__half2> out(n / 2);
    pairs<<<1, 128>>>(reinterpret_cast<__half2 *>(dx.data), out, n / 2);
    std::vector<__half2> squares = out.get();
    for (int i = 0; i < n / 2; i++)
        EXPECT(__high2float(squares[i]) == (2 * i + 1) % 8 * ((2 * i + 1) % 8) + 0.5f);
    Device<float> df(f), dr(n);
    rounded<<<1, 256>>>(df, dr, n);
    for (int i = 0; i < n; i++)
        expected[i] = std::nearbyint(f[i] * 128) / 128; // seven bits after the point
    expect_equal(dr.get(), expected);
}
