// The wave equation in one dimension, many short launches in one stream.
#include "../check.cuh"

__global__ void step(const double *before, const double *now, double *after, int n, double c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        after[i] = 2 * now[i] - before[i] + c * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

int main() {
    const int n = 500, n_steps = 60;
    std::vector<double> u[3];
    for (int k = 0; k < 3; k++) {
        u[k].resize(n);
        for (int i = 1; i < n - 1; i++)
            u[k][i] = k < 2 ? exp(-0.01 * (i - 250) * (i - 250)) : 0;
    }
    Device<double> a(u[0]), b(u[1]), c(u[2]);
    double *d[3] = {a, b, c};
    for (int s = 0; s < n_steps; s++) {
        step<<<4, 128>>>(d[s % 3], d[(s + 1) % 3], d[(s + 2) % 3], n, 0.25);
        for (int i = 1; i < n - 1; i++)
            u[(s + 2) % 3][i] = 2 * u[(s + 1) % 3][i] - u[s % 3][i] +
                                0.25 * (u[(s + 1) % 3][i - 1] - 2 * u[(s + 1) % 3][i] + u[(s + 1) % 3][i + 1]);
    }
    expect_near(c.get(), u[2], 1e-12);
    return 0;
}
