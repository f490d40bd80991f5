// Gaussian elimination: two kernels for each column, then substitution on the host.
#include "../check.cuh"

__global__ void factors(const float *a, float *m, int n, int t) {
    int row = t + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n)
        m[row] = a[row * n + t] / a[t * n + t];
}

__global__ void eliminate(float *a, float *b, const float *m, int n, int t) {
    int row = t + 1 + blockIdx.y * blockDim.y + threadIdx.y, column = t + blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    a[row * n + column] -= m[row] * a[t * n + column];
    if (column == t)
        b[row] -= m[row] * b[t];
}

int main() {
    const int n = 40;
    Random random(11);
    std::vector<float> a(n * n), solution(n), b(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = random.uniform() + (i == j ? n : 0);
    for (int i = 0; i < n; i++)
        solution[i] = i % 7 - 3.0f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i] += a[i * n + j] * solution[j];
    Device<float> da(a), db(b), dm(n);
    for (int t = 0; t < n - 1; t++) {
        factors<<<1, 64>>>(da, dm, n, t);
        eliminate<<<dim3(blocks_of(n - t, 16), blocks_of(n - t, 16)), dim3(16, 16)>>>(da, db, dm, n, t);
    }
    a = da.get();
    b = db.get();
    std::vector<float> x(n);
    for (int i = n - 1; i >= 0; i--) {
        x[i] = b[i];
        for (int j = i + 1; j < n; j++)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
    expect_near(x, solution, 1e-4);
    return 0;
}
