// Dot product: a grid-stride loop, a tree in shared memory, one atomic for each block.
#include "../check.cuh"

__global__ void dot(const double *a, const double *b, double *out, int n) {
    __shared__ double partial[128];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, partial[0]);
}

int main() {
    const int n = 20000;
    std::vector<double> a(n), b(n), expected(1);
    for (int i = 0; i < n; i++) {
        a[i] = i % 101 - 50;
        b[i] = i % 37 * 0.25;
        expected[0] += a[i] * b[i];
    }
    Device<double> da(a), db(b), out(1);
    CUDA(cudaMemset(out, 0, sizeof(double)));
    dot<<<8, 128>>>(da, db, out, n);
    expect_near(out.get(), expected, 1e-12);
    return 0;
}
