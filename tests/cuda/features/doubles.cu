// Double precision, and the functions of math.h on the device.
#include "../check.cuh"

__global__ void evaluate(const double *x, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i];
    double *o = out + i * 8;
    o[0] = sin(v) * cos(v);
    o[1] = exp(-v) + log1p(v);
    o[2] = sqrt(v) / (1 + cbrt(v));
    o[3] = pow(v, 1.5);
    o[4] = fma(v, v, -1.0);
    o[5] = erf(v) + tgamma(v + 1);
    o[6] = atan2(v, 2.0) + hypot(v, 3.0);
    o[7] = floor(v) + fmod(v, 0.7) + rint(v * 10);
}

int main() {
    const int n = 100;
    std::vector<double> x(n), expected(n * 8);
    for (int i = 0; i < n; i++) {
        double v = x[i] = i * 0.037 + 0.01, *o = &expected[i * 8];
        o[0] = sin(v) * cos(v);
        o[1] = exp(-v) + log1p(v);
        o[2] = sqrt(v) / (1 + cbrt(v));
        o[3] = pow(v, 1.5);
        o[4] = fma(v, v, -1.0);
        o[5] = erf(v) + tgamma(v + 1);
        o[6] = atan2(v, 2.0) + hypot(v, 3.0);
        o[7] = floor(v) + fmod(v, 0.7) + rint(v * 10);
    }
    Device<double> input(x), output(n * 8);
    evaluate<<<4, 32>>>(input, output, n);
    expect_near(output.get(), expected, 1e-13);
    return 0;
}
