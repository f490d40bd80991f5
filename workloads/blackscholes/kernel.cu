// Prices of European call and put options by the formula of Black and Scholes, one option per thread. The cumulative
// normal distribution is the polynomial 26.2.17 of Abramowitz and Stegun (error below 7.5e-8); exponential and
// logarithm are the fast intrinsics.
#include <heddle/device.h>

static __device__ __forceinline__ float normal_distribution(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 1.330274429f;
    tail = tail * k - 1.821255978f;
    tail = tail * k + 1.781477937f;
    tail = tail * k - 0.356563782f;
    tail = tail * k + 0.319381530f;
    tail = 0.398942280f * __expf(-0.5f * d * d) * k * tail;
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *spot, const float *strike, const float *years, float *call,
                                        float *put, float rate, float volatility, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = spot[i], x = strike[i], t = years[i];
        float deviation = volatility * sqrtf(t);
        float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / deviation;
        float d2 = d1 - deviation;
        float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
        float present = x * __expf(-rate * t);
        call[i] = s * n1 - present * n2;
        put[i] = present * (1.0f - n2) - s * (1.0f - n1);
    }
}
