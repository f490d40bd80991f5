// Cholesky factorization of a small matrix in one block, double precision.
#include "../check.cuh"

const int N = 32;

__global__ void factor(double *a) {
    __shared__ double l[N][N + 1];
    int row = threadIdx.x;
    for (int j = 0; j < N; j++)
        l[row][j] = a[row * N + j];
    __syncthreads();
    for (int j = 0; j < N; j++) {
        if (row == j)
            l[j][j] = sqrt(l[j][j]);
        __syncthreads();
        if (row > j)
            l[row][j] /= l[j][j];
        __syncthreads();
        for (int k = j + 1; k <= row; k++)
            l[row][k] -= l[row][j] * l[k][j];
        __syncthreads();
    }
    for (int j = 0; j < N; j++)
        a[row * N + j] = j <= row ? l[row][j] : 0;
}

int main() {
    Random random(5);
    std::vector<double> lower(N * N), a(N * N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            lower[i * N + j] = random.uniform() + (i == j ? 2 : 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                a[i * N + j] += lower[i * N + k] * lower[j * N + k];
    Device<double> da(a);
    factor<<<1, N>>>(da);
    expect_near(da.get(), lower, 1e-10);
    return 0;
}
