// Binomial option pricing: a block for each option, the tree in shared memory, double precision.
#include "../check.cuh"

const int STEPS = 127;

__global__ void tree(const double *spot, double *out) {
    __shared__ double value[STEPS + 1];
    int t = threadIdx.x;
    double up = exp(0.3 * sqrt(1.0 / STEPS)), p = (exp(0.02 / STEPS) - 1 / up) / (up - 1 / up);
    double discount = exp(-0.02 / STEPS);
    value[t] = fmax(spot[blockIdx.x] * pow(up, 2.0 * t - STEPS) - 50, 0.0);
    for (int step = STEPS; step > 0; step--) {
        __syncthreads();
        double v = t < step ? discount * (p * value[t + 1] + (1 - p) * value[t]) : 0;
        __syncthreads();
        if (t < step)
            value[t] = v;
    }
    if (t == 0)
        out[blockIdx.x] = value[0];
}

int main() {
    std::vector<double> spot = {30, 45, 50, 55, 80}, expected;
    for (double s : spot) {
        double up = exp(0.3 * sqrt(1.0 / STEPS)), p = (exp(0.02 / STEPS) - 1 / up) / (up - 1 / up);
        std::vector<double> value(STEPS + 1);
        for (int i = 0; i <= STEPS; i++)
            value[i] = std::max(s * pow(up, 2.0 * i - STEPS) - 50, 0.0);
        for (int step = STEPS; step > 0; step--)
            for (int i = 0; i < step; i++)
                value[i] = exp(-0.02 / STEPS) * (p * value[i + 1] + (1 - p) * value[i]);
        expected.push_back(value[0]);
    }
    Device<double> d(spot), out(spot.size());
    tree<<<static_cast<unsigned>(spot.size()), STEPS + 1>>>(d, out);
    expect_near(out.get(), expected, 1e-10);
    return 0;
}
