// Prices of options by the formula of Black and Scholes.
#include "../check.cuh"

__host__ __device__ inline float normal(float d) { return 0.5f * erfcf(-0.70710678f * d); }

__host__ __device__ inline void price(float s, float x, float t, float r, float v, float &call, float &put) {
    float root = sqrtf(t), d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
    float discount = expf(-r * t);
    call = s * normal(d1) - x * discount * normal(d2);
    put = x * discount * normal(-d2) - s * normal(-d1);
}

__global__ void options(const float *s, const float *x, const float *t, float *call, float *put, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        price(s[i], x[i], t[i], 0.02f, 0.3f, call[i], put[i]);
}

int main() {
    const int n = 3000;
    Random random(21);
    std::vector<float> s(n), x(n), t(n), call(n), put(n);
    for (int i = 0; i < n; i++) {
        s[i] = 5 + 25 * random.uniform();
        x[i] = 1 + 99 * random.uniform();
        t[i] = 0.25f + 9.75f * random.uniform();
        price(s[i], x[i], t[i], 0.02f, 0.3f, call[i], put[i]);
    }
    Device<float> ds(s), dx(x), dt(t), dc(n), dp(n);
    options<<<8, 128>>>(ds, dx, dt, dc, dp, n);
    expect_near(dc.get(), call, 1e-4);
    expect_near(dp.get(), put, 1e-4);
    return 0;
}
