// A seven-point stencil in three dimensions: threads walk along z and keep three planes in registers.
#include "../check.cuh"

__global__ void stencil(const float *in, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int i = y * nx + x, plane = nx * ny;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = 0.4f * here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        below = here;
        here = above;
    }
}

int main() {
    const int nx = 34, ny = 18, nz = 10;
    std::vector<float> in(nx * ny * nz), expected;
    for (size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<float>(i * 7919 % 1000);
    expected = in;
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int i = (z * ny + y) * nx + x, p = nx * ny;
                expected[i] =
                    0.4f * in[i] + 0.1f * (in[i - p] + in[i + p] + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
            }
    Device<float> a(in), b(in);
    stencil<<<dim3(2, 2), dim3(32, 16)>>>(a, b, nx, ny, nz);
    expect_near(b.get(), expected, 1e-5);
    return 0;
}
