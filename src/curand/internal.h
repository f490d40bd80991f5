/* Inside libcurand: where sequences begin, and tables that generators read. */
#pragma once

#include <stdbool.h>

#include "curand/kernels/random.h"
#include "curand/types.h"

#pragma GCC visibility push(hidden)

/* seeds.c: fills in the states of n sequences, `offset` elements after their start. */
void curand_seed_xorwow(uint32_t *states, uint32_t n, uint64_t seed, uint64_t offset);
void curand_seed_mrg(uint32_t *states, uint32_t n, uint64_t seed, uint64_t offset);

/* tables.c: 64 direction numbers for each of the first dimensions. */
enum { CURAND_DIMENSIONS = 21 };
void curand_directions(uint64_t *directions, unsigned n_dimensions);

/* Sums of the probabilities of a Poisson distribution. Returns memory that the caller frees, or NULL. */
double *curand_poisson_sums(double lambda, uint32_t *n_sums, uint32_t *least);

#pragma GCC visibility pop
