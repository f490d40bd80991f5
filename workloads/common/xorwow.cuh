// Marsaglia's xorwow generator (Xorshift RNGs, 2003), one stream per thread. A thread's stream is the sequence from
// `thread * stream_steps` steps after its seed on. A step is linear in the 160 bits of state, so skipping to it is a
// product of bit matrices with the seed, one for each bit set in the thread's number; the host supplies the matrices
// (xorwow.h).
#pragma once

enum { STATE_WORDS = 5, STATE_BITS = 160, MATRIX_WORDS = STATE_BITS * STATE_WORDS };
enum { COUNTER_STEP = 362437 };

// Five words that are a linear feedback shift register, and a counter that is added to the output.
struct xorwow {
    unsigned word[STATE_WORDS], counter;
};

static __device__ __forceinline__ unsigned xorwow_next(xorwow &g) {
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
static __device__ __forceinline__ void apply_matrix(const unsigned *matrix, xorwow &g) {
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
static __device__ __forceinline__ xorwow enter_stream(const unsigned *matrices, const unsigned *seed, unsigned stream,
                                                      unsigned stream_steps) {
    xorwow g = {{seed[0], seed[1], seed[2], seed[3], seed[4]},
                seed[5] + stream * stream_steps * (unsigned)COUNTER_STEP};
#pragma unroll 1
    for (const unsigned *matrix = matrices; stream; stream >>= 1, matrix += MATRIX_WORDS)
        if (stream & 1)
            apply_matrix(matrix, g);
    return g;
}
