// Lattice Boltzmann, nine velocities in two dimensions, periodic, distributions as a structure of arrays.
#include "../check.cuh"

__constant__ int dx[9], dy[9];
__constant__ float weight[9];
static const int hx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, hy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const float hw[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

__host__ __device__ inline void relax(float *f, const int *ex, const int *ey, const float *w) {
    float rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        rho += f[k];
        ux += f[k] * ex[k];
        uy += f[k] * ey[k];
    }
    ux /= rho;
    uy /= rho;
    for (int k = 0; k < 9; k++) {
        float eu = 3 * (ex[k] * ux + ey[k] * uy);
        f[k] += 0.8f * (w[k] * rho * (1 + eu + 0.5f * eu * eu - 1.5f * (ux * ux + uy * uy)) - f[k]);
    }
}

__global__ void step(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= n)
        return;
    float f[9];
    for (int k = 0; k < 9; k++)
        f[k] = in[k * n * n + (y - dy[k] + n) % n * n + (x - dx[k] + n) % n];
    relax(f, dx, dy, weight);
    for (int k = 0; k < 9; k++)
        out[k * n * n + y * n + x] = f[k];
}

int main() {
    const int n = 30, n_steps = 4;
    std::vector<float> f(9 * n * n), g(9 * n * n);
    for (int k = 0; k < 9; k++)
        for (int i = 0; i < n * n; i++)
            f[k * n * n + i] = hw[k] * (1 + 0.1f * ((i * 31 + k) % 11));
    CUDA(cudaMemcpyToSymbol(dx, hx, sizeof hx));
    CUDA(cudaMemcpyToSymbol(dy, hy, sizeof hy));
    CUDA(cudaMemcpyToSymbol(weight, hw, sizeof hw));
    Device<float> a(f), b(f.size());
    for (int s = 0; s < n_steps; s++) {
        step<<<dim3(1, n), 32>>>(s % 2 ? b : a, s % 2 ? a : b, n);
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                float cell[9];
                for (int k = 0; k < 9; k++)
                    cell[k] = f[k * n * n + (y - hy[k] + n) % n * n + (x - hx[k] + n) % n];
                relax(cell, hx, hy, hw);
                for (int k = 0; k < 9; k++)
                    g[k * n * n + y * n + x] = cell[k];
            }
        f.swap(g);
    }
    expect_near(a.get(), f, 1e-5);
    return 0;
}
