/* Tables that generators read: Sobol's direction numbers and sums of Poisson's probabilities. */
#include "curand/internal.h"

#include <stdlib.h>

/* ---- Sobol ------------------------------------------------------------------------------------------------------- */

/* Degree and coefficients of the primitive polynomial and the first numbers m of each dimension after the first, from
 * the list "new-joe-kuo-6" of Joe and Kuo. */
static const struct {
    unsigned degree, coefficients;
    unsigned m[7];
} polynomials[CURAND_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

void curand_directions(uint64_t *directions, unsigned n_dimensions) {
    for (unsigned d = 0; d < n_dimensions; d++) {
        uint64_t *v = directions + 64 * d;
        unsigned degree = d ? polynomials[d - 1].degree : 64;
        for (unsigned i = 0; i < 64; i++) {
            if (i < degree) {
                v[i] = (d ? (uint64_t)polynomials[d - 1].m[i] : 1) << (63 - i);
                continue;
            }
            v[i] = v[i - degree] ^ v[i - degree] >> degree;
            for (unsigned j = 1; j < degree; j++)
                if (polynomials[d - 1].coefficients >> (degree - 1 - j) & 1)
                    v[i] ^= v[i - j];
        }
    }
}

/* ---- Poisson ----------------------------------------------------------------------------------------------------- */

/* What lies more than twelve standard deviations away has no probability that 32 bits can tell. */
double *curand_poisson_sums(double lambda, uint32_t *n_sums, uint32_t *least) {
    double reach = 12 * sqrt(lambda) + 40, first = floor(lambda - reach);
    first = first < 0 ? 0 : first;
    *least = (uint32_t)first;
    *n_sums = (uint32_t)(lambda + reach - first) + 1;
    double *sums = malloc(*n_sums * sizeof(*sums)), sum = 0;
    if (!sums)
        return NULL;
    for (uint32_t i = 0; i < *n_sums; i++) {
        double k = first + i;
        sum += exp(k * log(lambda) - lambda - lgamma(k + 1));
        sums[i] = sum;
    }
    return sums;
}
