// Random numbers on the device: cuRAND's generators in source (curand_kernel.h).
#include <curand_kernel.h>

#include "../check.cuh"

__global__ void estimate(unsigned long long seed, int n, int *hits, double *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState state;
    curand_init(seed, i, 0, &state);
    int mine = 0;
    double sum = 0, squares = 0;
    for (int k = 0; k < n; k++) {
        float x = curand_uniform(&state), y = curand_uniform(&state), z = curand_normal(&state);
        mine += x * x + y * y <= 1;
        sum += z;
        squares += z * z;
    }
    atomicAdd(hits, mine);
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], squares);
}

__global__ void philox(unsigned *out) {
    curandStatePhilox4_32_10_t state;
    curand_init(1234, threadIdx.x, 0, &state);
    uint4 four = curand4(&state);
    out[threadIdx.x] = four.x ^ four.y ^ four.z ^ four.w;
}

int main() {
    const int n_threads = 256, n = 200;
    Device<int> hits(std::vector<int>{0});
    Device<double> sums(std::vector<double>{0, 0});
    estimate<<<n_threads / 64, 64>>>(42, n, hits, sums);
    double total = n_threads * n, pi = 4 * hits.get()[0] / total;
    EXPECT(std::fabs(pi - 3.14159) < 0.03);
    EXPECT(std::fabs(sums.get()[0] / total) < 0.02 && std::fabs(sums.get()[1] / total - 1) < 0.03);
    Device<unsigned> words(64);
    philox<<<1, 64>>>(words);
    std::vector<unsigned> got = words.get();
    for (int i = 1; i < 64; i++)
        EXPECT(got[i] != got[0]);
}
