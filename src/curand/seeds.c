/* The starts of the sequences of XORWOW and MRG32k3a.
 *
 * Both are linear: a step multiplies the state by a matrix, over bits for XORWOW and modulo two primes for MRG32k3a. So
 * the distance between two sequences, 2^67 or 2^76 steps, is a power of that matrix. */
#include "curand/internal.h"

#include <string.h>

/* ---- XORWOW: 160 bits -------------------------------------------------------------------------------------------- */

enum { BITS = 160, WORDS = 5 };

struct bits {
    uint32_t word[WORDS];
};
struct bit_matrix {
    struct bits column[BITS];
};

static struct bits multiply_bits(const struct bit_matrix *matrix, const struct bits *vector) {
    struct bits result = {{0}};
    for (int i = 0; i < BITS; i++)
        if (vector->word[i / 32] >> (i % 32) & 1)
            for (int w = 0; w < WORDS; w++)
                result.word[w] ^= matrix->column[i].word[w];
    return result;
}

static void multiply_bit_matrices(struct bit_matrix *to, const struct bit_matrix *a, const struct bit_matrix *b) {
    struct bit_matrix product;
    for (int i = 0; i < BITS; i++)
        product.column[i] = multiply_bits(a, &b->column[i]);
    *to = product;
}

/* The matrix of one step. The sixth word of the state is a counter. */
static void make_step(struct bit_matrix *step) {
    for (int i = 0; i < BITS; i++) {
        uint32_t state[RANDOM_WORDS] = {0};
        state[i / 32] = 1u << (i % 32);
        random_xorwow(state);
        memcpy(step->column[i].word, state, sizeof(step->column[i].word));
    }
}

static void skip_bits(struct bits *state, struct bit_matrix power, uint64_t n) {
    for (; n; n >>= 1) {
        if (n & 1)
            *state = multiply_bits(&power, state);
        multiply_bit_matrices(&power, &power, &power);
    }
}

void curand_seed_xorwow(uint32_t *states, uint32_t n, uint64_t seed, uint64_t offset) {
    uint32_t low = ((uint32_t)seed ^ 0xaad26b49) * 1099087573u;
    uint32_t high = ((uint32_t)(seed >> 32) ^ 0xf7dcefdd) * 2591861531u;
    struct bits start = {{123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low}};
    struct bit_matrix step, far;
    make_step(&step);
    far = step;
    for (int i = 0; i < 67; i++)
        multiply_bit_matrices(&far, &far, &far);
    uint64_t turns = offset / n;
    skip_bits(&start, step, turns);
    for (uint32_t s = 0; s < n; s++) {
        uint32_t state[RANDOM_WORDS];
        memcpy(state, start.word, sizeof(start.word));
        state[WORDS] = 6615241 + low + high + (uint32_t)turns * 362437;
        if (s < offset % n)
            random_xorwow(state);
        for (int w = 0; w < RANDOM_WORDS; w++)
            states[(uint32_t)w * n + s] = state[w];
        start = multiply_bits(&far, &start);
    }
}

/* ---- MRG32k3a: two vectors of three ------------------------------------------------------------------------------ */

struct square {
    uint64_t at[3][3];
};

static struct square multiply_squares(const struct square *a, const struct square *b, uint64_t modulus) {
    struct square product = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                product.at[i][j] = (product.at[i][j] + a->at[i][k] * b->at[k][j] % modulus) % modulus;
    return product;
}

static void multiply_vector(const struct square *a, uint32_t *vector, uint64_t modulus) {
    uint64_t result[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            result[i] = (result[i] + a->at[i][k] * vector[k] % modulus) % modulus;
    for (int i = 0; i < 3; i++)
        vector[i] = (uint32_t)result[i];
}

static void skip_vector(uint32_t *vector, struct square power, uint64_t modulus, uint64_t n) {
    for (; n; n >>= 1) {
        if (n & 1)
            multiply_vector(&power, vector, modulus);
        power = multiply_squares(&power, &power, modulus);
    }
}

void curand_seed_mrg(uint32_t *states, uint32_t n, uint64_t seed, uint64_t offset) {
    static const uint64_t modulus[2] = {RANDOM_M1, RANDOM_M2};
    struct square step[2] = {{{{0, 1, 0}, {0, 0, 1}, {RANDOM_M1 - 810728, 1403580, 0}}},
                             {{{0, 1, 0}, {0, 0, 1}, {RANDOM_M2 - 1370589, 0, 527612}}}},
                  far[2];
    uint32_t start[RANDOM_WORDS];
    uint64_t low = (uint32_t)seed ^ 0x55555555, high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaa;
    for (int i = 0; i < RANDOM_WORDS; i++) {
        uint64_t factor = i % 2 ? high : low; /* low high low, high low high */
        start[i] = seed ? (uint32_t)(factor * 12345 % modulus[i / 3]) : 12345;
    }
    for (int v = 0; v < 2; v++) {
        far[v] = step[v];
        for (int i = 0; i < 76; i++)
            far[v] = multiply_squares(&far[v], &far[v], modulus[v]);
        skip_vector(&start[3 * v], step[v], modulus[v], offset / n);
    }
    for (uint32_t s = 0; s < n; s++) {
        uint32_t state[RANDOM_WORDS];
        memcpy(state, start, sizeof(state));
        if (s < offset % n)
            random_mrg(state);
        for (int w = 0; w < RANDOM_WORDS; w++)
            states[(uint32_t)w * n + s] = state[w];
        for (int v = 0; v < 2; v++)
            multiply_vector(&far[v], &start[3 * v], modulus[v]);
    }
}
