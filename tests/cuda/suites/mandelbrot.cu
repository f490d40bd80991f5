// The Mandelbrot set: loops of very different lengths.
#include "../check.cuh"

__host__ __device__ inline int escape(double cx, double cy, int most) {
    double x = 0, y = 0;
    int i = 0;
    for (; i < most && x * x + y * y < 4; i++) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
    }
    return i;
}

__global__ void draw(int *out, int n, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = escape(-2.1 + 2.8 * x / n, -1.4 + 2.8 * y / n, most);
}

int main() {
    const int n = 48, most = 100;
    std::vector<int> expected(n * n);
    for (int i = 0; i < n * n; i++)
        expected[i] = escape(-2.1 + 2.8 * (i % n) / n, -1.4 + 2.8 * (i / n) / n, most);
    Device<int> out(n * n);
    draw<<<dim3(3, 6), dim3(16, 8)>>>(out, n, most);
    std::vector<int> got = out.get();
    int n_different = 0; // a fused multiply-add may move a point on the border
    for (int i = 0; i < n * n; i++)
        n_different += got[i] != expected[i];
    EXPECT(n_different < n * n / 100);
    return 0;
}
