// The generator as a linear map. See xorwow.h.
#include "xorwow.h"

#include <stdlib.h>
#include <string.h>

enum { STATE_BITS = 160, MATRIX_WORDS = STATE_BITS * XORWOW_WORDS, COUNTER_STEP = 362437 }; // as in xorwow.cuh
enum { STREAM_STEPS_LOG2 = 12 };
enum { MAX_MATRICES = 30 }; // one for each bit of a thread's number
_Static_assert(1 << STREAM_STEPS_LOG2 == XORWOW_STREAM_STEPS, "streams begin at powers of two steps");

struct xorwow xorwow_seed(struct workload *w) {
    struct xorwow s = {.counter = workload_random(w)};
    for (int k = 0; k < XORWOW_WORDS; k++) {
        uint32_t high = workload_random(w), low = workload_random(w);
        s.word[k] = high << 8 ^ low;
    }
    s.word[0] |= 1;
    return s;
}

// One step of the five words, without the counter.
static void step_words(uint32_t *word) {
    uint32_t t = word[0] ^ word[0] >> 2, last = word[4];
    memmove(word, word + 1, 4 * sizeof *word);
    word[4] = last ^ last << 4 ^ t ^ t << 1;
}

uint32_t xorwow_next(struct xorwow *s) {
    step_words(s->word);
    s->counter += COUNTER_STEP;
    return s->word[4] + s->counter;
}

// out = matrix * in; column b of a matrix is at [XORWOW_WORDS * b].
static void multiply(const uint32_t *matrix, const uint32_t *in, uint32_t *out) {
    uint32_t sum[XORWOW_WORDS] = {0};
    for (int b = 0; b < STATE_BITS; b++)
        for (int k = 0; k < XORWOW_WORDS && (in[b / 32] >> b % 32 & 1); k++)
            sum[k] ^= matrix[XORWOW_WORDS * b + k];
    memcpy(out, sum, sizeof sum);
}

static void square(const uint32_t *matrix, uint32_t *result) {
    for (int b = 0; b < STATE_BITS; b++)
        multiply(matrix, matrix + XORWOW_WORDS * b, result + XORWOW_WORDS * b);
}

// Matrix k of the result skips 2^k streams.
static uint32_t *make_matrices(const struct workload *w, int n) {
    uint32_t *matrices = workload_array(w, (size_t)n * MATRIX_WORDS, sizeof *matrices);
    uint32_t power[MATRIX_WORDS] = {0}, squared[MATRIX_WORDS];
    for (int b = 0; b < STATE_BITS; b++) { // one step, applied to every single bit
        power[XORWOW_WORDS * b + b / 32] = 1u << b % 32;
        step_words(power + XORWOW_WORDS * b);
    }
    for (int k = 0; k < STREAM_STEPS_LOG2 + n; k++) {
        if (k >= STREAM_STEPS_LOG2)
            memcpy(matrices + (size_t)(k - STREAM_STEPS_LOG2) * MATRIX_WORDS, power, sizeof power);
        square(power, squared);
        memcpy(power, squared, sizeof power);
    }
    return matrices;
}

CUdeviceptr xorwow_upload_matrices(const struct workload *w, unsigned n_streams) {
    int n = 1;
    while (n < MAX_MATRICES && n_streams >> n)
        n++;
    uint32_t *matrices = make_matrices(w, n);
    CUdeviceptr device = workload_upload(w, matrices, (size_t)n * MATRIX_WORDS * sizeof *matrices);
    free(matrices);
    return device;
}
