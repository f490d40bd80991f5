// Monte Carlo price of an arithmetic Asian option, one path per thread. `start_generators` starts every path's own
// random numbers, `walk_paths` writes the price of the share at every step of every path, and `average_paths` turns the
// mean price of a path into its payoff and adds the payoffs of the block's paths.
#include <heddle/device.h>

#include "../common/xorwow.cuh"

// Marsaglia's xorwow generator (Xorshift RNGs, 2003): five words of xorshift and a counter.
struct generator {
    unsigned x, y, z, w, v, count;
};

// The finishing rounds of MurmurHash3: one-to-one, and every input bit reaches every output bit.
static __device__ __forceinline__ unsigned scramble(unsigned x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

static __device__ __forceinline__ unsigned next_random(generator &g) {
    unsigned t = g.x ^ g.x >> 2;
    g.x = g.y;
    g.y = g.z;
    g.z = g.w;
    g.w = g.v;
    g.v = g.v ^ g.v << 4 ^ t ^ t << 1;
    g.count += 362437u;
    return g.v + g.count;
}

// In (0, 1): 23 bits and half a unit, exact in a float.
static __device__ __forceinline__ float next_uniform(generator &g) {
    return ((float)(next_random(g) >> 9) + 0.5f) * 0x1p-23f;
}

// Two independent normal numbers after Box and Muller.
static __device__ __forceinline__ float2 next_normals(generator &g) {
    float radius = sqrtf(-2.0f * logf(next_uniform(g)));
    float sine, cosine;
    sincosf(6.28318531f * next_uniform(g), &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}

extern "C" __global__ void start_generators(generator *generators, int n, unsigned seed) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned key = scramble(seed ^ scramble(i));
        generators[i] = {scramble(key + 1), scramble(key + 2), scramble(key + 3),
                         scramble(key + 4), scramble(key + 5), 0};
    }
}

// A stream for each thread of the grid: nearly as much work as the paths, a quarter of it loads.
extern "C" __global__ void start_streams(const unsigned *matrices, const unsigned *seed, unsigned stream_steps,
                                         generator *generators) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    xorwow g = enter_stream(matrices, seed, (unsigned)thread, stream_steps);
    generators[thread] = {g.word[0], g.word[1], g.word[2], g.word[3], g.word[4], g.counter};
}

// price[step * n + i] is the price on path i after step + 1 steps; n_steps is even.
extern "C" __global__ void walk_paths(const generator *generators, float *price, int n, int n_steps, float spot,
                                      float drift, float volatility) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        generator g = generators[i];
        float now = spot;
#pragma unroll 1
        for (int step = 0; step < n_steps; step += 2) {
            float2 normals = next_normals(g);
            now *= expf(drift + volatility * normals.x);
            price[step * n + i] = now;
            now *= expf(drift + volatility * normals.y);
            price[(step + 1) * n + i] = now;
        }
    }
}

// The same with a stream for each thread, which goes on from path to path.
extern "C" __global__ void walk_streams(const generator *generators, float *price, int n, int n_steps, float spot,
                                        float drift, float volatility) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    generator g = generators[thread];
#pragma unroll 1
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        float now = spot;
#pragma unroll 1
        for (int step = 0; step < n_steps; step += 2) {
            float2 normals = next_normals(g);
            now *= expf(drift + volatility * normals.x);
            price[step * n + i] = now;
            now *= expf(drift + volatility * normals.y);
            price[(step + 1) * n + i] = now;
        }
    }
}

// Dynamic shared memory: a float for each thread.
extern "C" __global__ void average_paths(const float *price, float *payoff, float *block_sum, int n, int n_steps,
                                         float strike) {
    extern __shared__ float sums[];
    int t = threadIdx.x;
    float total = 0.0f;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
#pragma unroll 1
        for (int step = 0; step < n_steps; step++)
            sum += price[step * n + i];
        float paid = fmaxf(sum / (float)n_steps - strike, 0.0f);
        payoff[i] = paid;
        total += paid;
    }
    sums[t] = total;
    __syncthreads();
    // Adds the upper part to the lower one; with an odd width the middle element stays in place.
    int width = blockDim.x;
#pragma unroll 1
    while (width > 1) {
        int half = (width + 1) / 2;
        if (t < width - half)
            sums[t] += sums[t + half];
        __syncthreads();
        width = half;
    }
    if (t == 0)
        block_sum[blockIdx.x] = sums[0];
}
