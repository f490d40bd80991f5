// Monte Carlo: pi by darts, and the price of an option by random paths, with a generator for each thread.
#include "../check.cuh"

__host__ __device__ inline unsigned next(unsigned &s) {
    s ^= s << 13;
    s ^= s >> 17;
    return s ^= s << 5;
}

__host__ __device__ inline float uniform(unsigned &s) { return (next(s) >> 8) * (1.0f / 16777216); }

__host__ __device__ inline int darts(int seed, int n) {
    unsigned s = 1234567u * (seed + 1);
    int hits = 0;
    for (int i = 0; i < n; i++) {
        float x = uniform(s), y = uniform(s);
        hits += x * x + y * y < 1;
    }
    return hits;
}

__global__ void throw_darts(int *hits, int n) { atomicAdd(hits, darts(blockIdx.x * blockDim.x + threadIdx.x, n)); }

__global__ void paths(float *payoff, int n_steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = 7654321u * (i + 1);
    float price = 100;
    for (int k = 0; k < n_steps; k += 2) { // Box-Muller makes two at a time
        float r = sqrtf(-2 * logf(uniform(s) + 1e-7f)), angle = 6.2831853f * uniform(s);
        price *= expf(0.02f * r * cosf(angle));
        price *= expf(0.02f * r * sinf(angle));
    }
    payoff[i] = fmaxf(price - 100, 0);
}

int main() {
    const int n_threads = 512, n = 100;
    int expected = 0;
    for (int i = 0; i < n_threads; i++)
        expected += darts(i, n);
    Device<int> hits(1);
    CUDA(cudaMemset(hits, 0, sizeof(int)));
    throw_darts<<<n_threads / 128, 128>>>(hits, n);
    int got = hits.get()[0];
    EXPECT(got == expected);
    EXPECT(fabs(4.0 * got / (n_threads * n) - 3.14159) < 0.05);
    Device<float> payoff(1024);
    paths<<<8, 128>>>(payoff, 16);
    double mean = 0;
    for (float p : payoff.get())
        mean += p / 1024;
    EXPECT(mean > 2.4 && mean < 4.2); // a standard deviation of 8 % of 100 over the path: about 3.3
    return 0;
}
