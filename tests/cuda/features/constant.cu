// Constant memory and device variables, by symbol.
#include "../check.cuh"

__constant__ float coefficients[8];
__constant__ int preset[4] = {2, 3, 5, 7};
__device__ unsigned counter = 10;
__device__ float results[64];
__device__ int *pointer;

__global__ void polynomial(const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float y = 0;
    for (int k = 7; k >= 0; k--)
        y = y * x[i] + coefficients[k];
    results[i] = y + preset[i % 4];
    atomicAdd(&counter, 1);
    if (i == 0)
        *pointer = 99;
}

int main() {
    const int n = 50;
    float c[8];
    std::vector<float> x(n), expected(n), got(n);
    for (int k = 0; k < 8; k++)
        c[k] = k * 0.25f - 1;
    const int primes[] = {2, 3, 5, 7};
    for (int i = 0; i < n; i++) {
        x[i] = i / 50.0f;
        for (int k = 7; k >= 0; k--)
            expected[i] = expected[i] * x[i] + c[k];
        expected[i] += primes[i % 4];
    }
    Device<float> input(x);
    Device<int> flag(1);
    int *address = flag.data;
    CUDA(cudaMemcpyToSymbol(coefficients, c, sizeof c));
    CUDA(cudaMemcpyToSymbol(pointer, &address, sizeof address));
    polynomial<<<2, 32>>>(input, n);
    CUDA(cudaMemcpyFromSymbol(got.data(), results, n * sizeof(float)));
    expect_near(got, expected, 1e-5);
    unsigned count;
    CUDA(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 10 + n);
    void *where;
    size_t bytes;
    CUDA(cudaGetSymbolAddress(&where, results));
    CUDA(cudaGetSymbolSize(&bytes, results));
    EXPECT(bytes == 64 * sizeof(float));
    CUDA(cudaMemset(where, 0, bytes));
    CUDA(cudaMemcpyFromSymbol(got.data(), results, 4, 8));
    EXPECT(got[0] == 0);
    expect_equal(flag.get(), {99});
}
