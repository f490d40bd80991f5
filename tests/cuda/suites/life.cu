// Conway's game of life on a torus.
#include "../check.cuh"

__host__ __device__ inline unsigned char rule(int neighbours, int alive) {
    return neighbours == 3 || (neighbours == 2 && alive);
}

__host__ __device__ inline int count(const unsigned char *cells, int x, int y, int n) {
    int sum = 0;
    for (int dy = n - 1; dy <= n + 1; dy++)
        for (int dx = n - 1; dx <= n + 1; dx++)
            sum += cells[(y + dy) % n * n + (x + dx) % n];
    return sum - cells[y * n + x];
}

__global__ void live(const unsigned char *in, unsigned char *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = rule(count(in, x, y, n), in[y * n + x]);
}

int main() {
    const int n = 60, n_steps = 6;
    Random random(4);
    std::vector<unsigned char> cells(n * n), later(n * n);
    for (unsigned char &c : cells)
        c = random.below(3) == 0;
    Device<unsigned char> a(cells), b(n * n);
    for (int s = 0; s < n_steps; s++) {
        live<<<dim3(4, 4), dim3(16, 16)>>>(s % 2 ? b : a, s % 2 ? a : b, n);
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                later[y * n + x] = rule(count(cells.data(), x, y, n), cells[y * n + x]);
        cells.swap(later);
    }
    expect_equal(a.get(), cells);
    return 0;
}
