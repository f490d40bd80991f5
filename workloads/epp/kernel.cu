// Pi by throwing points at the unit square, with random numbers generated in the kernel: Marsaglia's xorwow generator,
// one stream per thread. A thread's stream is the sequence from `thread * STREAM_STEPS` steps after its seed on. A step
// is linear in the 160 bits of state, so skipping to it is a product of bit matrices with the seed, one for each bit
// set in the thread's number; the host supplies the matrices.
#include <heddle/device.h>

enum { STATE_WORDS = 5, STATE_BITS = 160, MATRIX_WORDS = STATE_BITS * STATE_WORDS };
enum { COUNTER_STEP = 362437 };

// Five words that are a linear feedback shift register, and a counter that is added to the output.
struct generator {
    unsigned word[STATE_WORDS], counter;
};

static __device__ __forceinline__ unsigned next_random(generator &g) {
    unsigned t = g.word[0] ^ (g.word[0] >> 2);
    g.word[0] = g.word[1];
    g.word[1] = g.word[2];
    g.word[2] = g.word[3];
    g.word[3] = g.word[4];
    g.word[4] = (g.word[4] ^ (g.word[4] << 4)) ^ (t ^ (t << 1));
    g.counter += COUNTER_STEP;
    return g.word[4] + g.counter;
}

// word = matrix * word over bits: column b of the matrix, five words at [5 b], is added for every bit b that is set. A
// mask instead of a branch keeps the warp together: its lanes have different bits and the same columns.
static __device__ __forceinline__ void apply_matrix(const unsigned *matrix, generator &g) {
    unsigned sum[STATE_WORDS] = {0, 0, 0, 0, 0};
#pragma unroll
    for (int w = 0; w < STATE_WORDS; w++) {
        unsigned bits = g.word[w];
#pragma unroll 1
        for (int b = 0; b < 32; b++) {
            unsigned mask = -(bits & 1);
#pragma unroll
            for (int k = 0; k < STATE_WORDS; k++)
                sum[k] ^= matrix[k] & mask;
            bits >>= 1;
            matrix += STATE_WORDS;
        }
    }
#pragma unroll
    for (int k = 0; k < STATE_WORDS; k++)
        g.word[k] = sum[k];
}

// Matrix k skips 2^k streams. `seed` is word 0 to 4, then the counter.
static __device__ __forceinline__ generator enter_stream(const unsigned *matrices, const unsigned *seed,
                                                         unsigned stream, unsigned stream_steps) {
    generator g = {{seed[0], seed[1], seed[2], seed[3], seed[4]},
                   seed[5] + stream * stream_steps * (unsigned)COUNTER_STEP};
#pragma unroll 1
    for (const unsigned *matrix = matrices; stream; stream >>= 1, matrix += MATRIX_WORDS)
        if (stream & 1)
            apply_matrix(matrix, g);
    return g;
}

// Uniform in [0, 1) in steps of 2^-24, all exact.
static __device__ __forceinline__ float uniform(generator &g) { return (float)(next_random(g) >> 8) * 0x1p-24f; }

// Adds to *n_inside the number of points that fall into the quarter circle. The operations are not fused, so that every
// IEEE implementation counts the same points.
extern "C" __global__ void epp(const unsigned *matrices, const unsigned *seed, unsigned stream_steps, int n_points,
                               unsigned *n_inside) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, n_threads = gridDim.x * blockDim.x;
    generator g = enter_stream(matrices, seed, (unsigned)thread, stream_steps);
    unsigned inside = 0;
#pragma unroll 1
    for (int i = thread; i < n_points; i += n_threads) {
        float x = uniform(g), y = uniform(g);
        if (__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f)
            inside++;
    }
    if (inside)
        atomicAdd(n_inside, inside);
}
