/* The generators and distributions of cuRAND: the mathematics, for kernels and for the host alike.
 *
 * Sources: Marsaglia, "Xorshift RNGs" (XORWOW); L'Ecuyer, "Good parameters and implementations for combined multiple
 * recursive random number generators" (MRG32k3a); Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
 * (Philox); Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections"; Wichura, algorithm
 * AS 241 (the inverse of the normal distribution). How numbers are seeded, ordered in memory and turned into
 * distributions follows NVIDIA's cuRAND manual and its device interface.
 *
 * XORWOW is 4,096 sequences, far apart in one, and MRG32k3a 81,920, or 4,096 in the legacy ordering. Element i of the
 * output comes from sequence i modulo their number. Normal numbers come in pairs from two draws of a sequence. Philox
 * is 65,536 sequences, each of which writes four elements at a time, and needs no state but the position. Sobol writes
 * all points of the first dimension, then those of the second. */
#pragma once

#ifdef __CUDA_ARCH__
#include <heddle/device.h>
#define RANDOM_CODE static __device__ __forceinline__
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <math.h>
#include <stdint.h>
#define RANDOM_CODE static inline
#endif

enum { RANDOM_WORDS = 6, RANDOM_PHILOX_SEQUENCES = 65536 };

enum random_kind {
    RANDOM_BITS,
    RANDOM_BITS64,
    RANDOM_UNIFORM,
    RANDOM_UNIFORM_DOUBLE,
    RANDOM_NORMAL,
    RANDOM_NORMAL_DOUBLE,
    RANDOM_POISSON,
};

struct random_job {
    enum random_kind kind;
    int is_logarithmic; /* normal: exp of it */
    void *to;
    uint64_t n;
    double mean, deviation;
    uint32_t *states; /* word w of sequence s: states[w * n_sequences + s] */
    uint32_t n_sequences;
    uint32_t first;             /* the sequence of element 0 */
    uint64_t seed;              /* Philox */
    uint64_t counter;           /* Philox: added to those of the sequences, which are the states */
    uint64_t position;          /* Philox: elements before; Sobol: points before */
    uint64_t n_points;          /* Sobol: points in each dimension */
    const uint64_t *directions; /* Sobol: 64 for each dimension, the first in the highest bit */
    /* Poisson: sums[i] is the probability of at most least + i */
    const double *sums;
    uint32_t n_sums, least;
};

/* ---- Distributions ----------------------------------------------------------------------------------------------- */

RANDOM_CODE float random_uniform(uint32_t x) { return (float)x * 0x1p-32f + 0x1p-33f; }
/* 53 bits of two draws. */
RANDOM_CODE double random_uniform_wide(uint32_t x, uint32_t y) {
    return (double)(x ^ (uint64_t)y << 21) * 0x1p-53 + 0x1p-54;
}

/* sin(pi x) and cos(pi x) for x from 0 to 2. */
RANDOM_CODE void random_sin_cos(double x, double *sine, double *cosine) {
    int quarter = (int)(2 * x + 0.5);
    double t = 3.141592653589793 * (x - 0.5 * quarter), u = t * t;
    double s = -1.0 / 1307674368000, c = 1.0 / 20922789888000;
    s = s * u + 1.0 / 6227020800, s = s * u - 1.0 / 39916800, s = s * u + 1.0 / 362880, s = s * u - 1.0 / 5040;
    s = s * u + 1.0 / 120, s = s * u - 1.0 / 6, s = s * u * t + t;
    c = c * u - 1.0 / 87178291200, c = c * u + 1.0 / 479001600, c = c * u - 1.0 / 3628800, c = c * u + 1.0 / 40320;
    c = c * u - 1.0 / 720, c = c * u + 1.0 / 24, c = c * u - 0.5, c = c * u + 1;
    switch (quarter & 3) {
    case 0:
        *sine = s, *cosine = c;
        break;
    case 1:
        *sine = c, *cosine = -s;
        break;
    case 2:
        *sine = -s, *cosine = -c;
        break;
    default:
        *sine = -c, *cosine = s;
    }
}

/* Two normal numbers from two uniform ones (Box and Muller). */
RANDOM_CODE void random_pair(float u, float v, float out[2]) {
    float s = sqrtf(-2.0f * logf(u)), angle = v * 6.2831855f;
    out[0] = s * sinf(angle);
    out[1] = s * cosf(angle);
}
RANDOM_CODE void random_pair_double(double u, double v, double out[2]) {
    double s = sqrt(-2.0 * log(u));
    random_sin_cos(2 * v, &out[0], &out[1]);
    out[0] *= s;
    out[1] *= s;
}

/* The number below which a normal number is with probability p. */
RANDOM_CODE double random_inverse_normal(double p) {
    double q = p - 0.5, r, value;
    if (fabs(q) <= 0.425) {
        r = 0.180625 - q * q;
        value = q *
                (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r +
                     45921.953931549871457) *
                        r +
                    13731.693765509461125) *
                       r +
                   1971.5909503065514427) *
                      r +
                  133.14166789178437745) *
                     r +
                 3.387132872796366608) /
                (((((((5226.495278852854561 * r + 28729.085735721942674) * r + 39307.89580009271061) * r +
                     21213.794301586595867) *
                        r +
                    5394.1960214247511077) *
                       r +
                   687.1870074920579083) *
                      r +
                  42.313330701600911252) *
                     r +
                 1.0);
        return value;
    }
    r = sqrt(-log(q < 0 ? p : 1 - p));
    if (r <= 5) {
        r -= 1.6;
        value = (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r + 0.24178072517745061177) * r +
                     1.27045825245236838258) *
                        r +
                    3.64784832476320460504) *
                       r +
                   5.7694972214606914055) *
                      r +
                  4.6303378461565452959) *
                     r +
                 1.42343711074968357734) /
                (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r + 0.0151986665636164571966) * r +
                     0.14810397642748007459) *
                        r +
                    0.68976733498510000455) *
                       r +
                   1.6763848301838038494) *
                      r +
                  2.05319162663775882187) *
                     r +
                 1.0);
    } else {
        r -= 5;
        value = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 0.0012426609473880784386) * r +
                     0.026532189526576123093) *
                        r +
                    0.29656057182850489123) *
                       r +
                   1.7848265399172913358) *
                      r +
                  5.4637849111641143699) *
                     r +
                 6.6579046435011037772) /
                (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r + 1.8463183175100546818e-5) * r +
                     7.868691311456132591e-4) *
                        r +
                    0.0148753612908506148525) *
                       r +
                   0.13692988092273580531) *
                      r +
                  0.59983220655588793769) *
                     r +
                 1.0);
    }
    return q < 0 ? -value : value;
}

RANDOM_CODE uint32_t random_poisson(const struct random_job *job, double u) {
    uint32_t low = 0, high = job->n_sums - 1; /* the first sum that is at least u */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (job->sums[middle] >= u)
            high = middle;
        else
            low = middle + 1;
    }
    return job->least + low;
}

RANDOM_CODE void random_put_normal(const struct random_job *job, uint64_t at, float x) {
    float value = (float)job->mean + (float)job->deviation * x;
    if (at < job->n)
        ((float *)job->to)[at] = job->is_logarithmic ? expf(value) : value;
}
RANDOM_CODE void random_put_normal_double(const struct random_job *job, uint64_t at, double x) {
    double value = job->mean + job->deviation * x;
    if (at < job->n)
        ((double *)job->to)[at] = job->is_logarithmic ? exp(value) : value;
}

/* ---- XORWOW ------------------------------------------------------------------------------------------------------ */

RANDOM_CODE uint32_t random_xorwow(uint32_t s[RANDOM_WORDS]) {
    uint32_t t = s[0] ^ s[0] >> 2, last = s[4];
    s[0] = s[1], s[1] = s[2], s[2] = s[3], s[3] = last;
    s[4] = last ^ last << 4 ^ t ^ t << 1;
    s[5] += 362437;
    return s[4] + s[5];
}

/* ---- MRG32k3a: a number from 1 to m1 ----------------------------------------------------------------------------- */

#define RANDOM_M1 4294967087u
#define RANDOM_M2 4294944443u

RANDOM_CODE uint32_t random_mrg(uint32_t s[RANDOM_WORDS]) {
    uint64_t p = ((uint64_t)1403580 * s[1] + (uint64_t)810728 * (RANDOM_M1 - s[0])) % RANDOM_M1;
    uint64_t q = ((uint64_t)527612 * s[5] + (uint64_t)1370589 * (RANDOM_M2 - s[3])) % RANDOM_M2;
    s[0] = s[1], s[1] = s[2], s[2] = (uint32_t)p;
    s[3] = s[4], s[4] = s[5], s[5] = (uint32_t)q;
    return (uint32_t)(p > q ? p - q : p + RANDOM_M1 - q);
}
RANDOM_CODE double random_mrg_uniform(uint32_t s[RANDOM_WORDS]) { return random_mrg(s) * 2.3283065498378288e-10; }

/* ---- A sequence of either -----------------------------------------------------------------------------------------*/

RANDOM_CODE uint32_t random_bits(int is_mrg, uint32_t s[RANDOM_WORDS]) {
    return is_mrg ? (uint32_t)(random_mrg(s) * 1.000000048662) : random_xorwow(s);
}
RANDOM_CODE float random_single(int is_mrg, uint32_t s[RANDOM_WORDS]) {
    return is_mrg ? (float)random_mrg_uniform(s) : random_uniform(random_xorwow(s));
}
RANDOM_CODE double random_double(int is_mrg, uint32_t s[RANDOM_WORDS]) {
    if (is_mrg)
        return random_mrg_uniform(s);
    uint32_t x = random_xorwow(s);
    return random_uniform_wide(x, random_xorwow(s));
}

/* Writes the elements that come from one sequence. */
RANDOM_CODE void random_fill_sequence(int is_mrg, const struct random_job *job, uint32_t sequence) {
    uint32_t s[RANDOM_WORDS];
    for (int w = 0; w < RANDOM_WORDS; w++)
        s[w] = job->states[(uint32_t)w * job->n_sequences + sequence];
    uint64_t i = (sequence + job->n_sequences - job->first) % job->n_sequences;
    int is_pair = job->kind == RANDOM_NORMAL || job->kind == RANDOM_NORMAL_DOUBLE;
    for (uint64_t n = is_pair ? job->n / 2 : job->n; i < n; i += job->n_sequences) {
        float u, singles[2];
        double v, doubles[2];
        switch (job->kind) {
        case RANDOM_UNIFORM:
            ((float *)job->to)[i] = random_single(is_mrg, s);
            break;
        case RANDOM_UNIFORM_DOUBLE:
            ((double *)job->to)[i] = random_double(is_mrg, s);
            break;
        case RANDOM_NORMAL:
            u = random_single(is_mrg, s);
            random_pair(u, random_single(is_mrg, s), singles);
            random_put_normal(job, 2 * i, singles[0]);
            random_put_normal(job, 2 * i + 1, singles[1]);
            break;
        case RANDOM_NORMAL_DOUBLE:
            v = random_double(is_mrg, s);
            random_pair_double(v, random_double(is_mrg, s), doubles);
            random_put_normal_double(job, 2 * i, doubles[0]);
            random_put_normal_double(job, 2 * i + 1, doubles[1]);
            break;
        case RANDOM_POISSON:
            ((uint32_t *)job->to)[i] = random_poisson(job, (random_bits(is_mrg, s) + 0.5) * 0x1p-32);
            break;
        default:
            ((uint32_t *)job->to)[i] = random_bits(is_mrg, s);
        }
    }
    for (int w = 0; w < RANDOM_WORDS; w++)
        job->states[(uint32_t)w * job->n_sequences + sequence] = s[w];
}

/* ---- Philox 4x32-10 ---------------------------------------------------------------------------------------------- */

RANDOM_CODE void random_philox(uint64_t counter, uint32_t sequence, uint64_t seed, uint32_t c[4]) {
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    c[0] = (uint32_t)counter, c[1] = (uint32_t)(counter >> 32), c[2] = sequence, c[3] = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xd2511f53 * c[0], q = (uint64_t)0xcd9e8d57 * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ key[0];
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ key[1];
        c[1] = (uint32_t)q;
        c[3] = (uint32_t)p;
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
}

/* Writes four elements: those at 4 `quad` of the whole sequence, as far as the job contains them. */
RANDOM_CODE void random_fill_quad(const struct random_job *job, uint64_t quad) {
    uint32_t sequence = (uint32_t)(quad % RANDOM_PHILOX_SEQUENCES), c[4], d[4] = {0, 0, 0, 0};
    uint64_t at = 4 * quad - job->position; /* wraps around before the start */
    int is_double = job->kind == RANDOM_UNIFORM_DOUBLE || job->kind == RANDOM_NORMAL_DOUBLE;
    uint64_t counter = job->counter + job->states[sequence];
    random_philox(counter, sequence, job->seed, c);
    if (is_double)
        random_philox(counter + 1, sequence, job->seed, d);
    if (at + 4 <= job->n) /* the last of the four is written now */
        job->states[sequence] += is_double ? 2 : 1;
    double wide[4] = {0, 0, 0, 0};
    float normal[4] = {0, 0, 0, 0};
    if (is_double) {
        wide[0] = random_uniform_wide(c[0], c[1]), wide[1] = random_uniform_wide(c[2], c[3]);
        wide[2] = random_uniform_wide(d[0], d[1]), wide[3] = random_uniform_wide(d[2], d[3]);
    }
    if (job->kind == RANDOM_NORMAL_DOUBLE) {
        random_pair_double(wide[0], wide[1], &wide[0]);
        random_pair_double(wide[2], wide[3], &wide[2]);
    } else if (job->kind == RANDOM_NORMAL) {
        random_pair(random_uniform(c[0]), random_uniform(c[1]), &normal[0]);
        random_pair(random_uniform(c[2]), random_uniform(c[3]), &normal[2]);
    }
    for (int i = 0; i < 4; i++, at++) {
        if (at >= job->n)
            continue;
        switch (job->kind) {
        case RANDOM_UNIFORM:
            ((float *)job->to)[at] = random_uniform(c[i]);
            break;
        case RANDOM_UNIFORM_DOUBLE:
            ((double *)job->to)[at] = wide[i];
            break;
        case RANDOM_NORMAL:
            random_put_normal(job, at, normal[i]);
            break;
        case RANDOM_NORMAL_DOUBLE:
            random_put_normal_double(job, at, wide[i]);
            break;
        case RANDOM_POISSON:
            ((uint32_t *)job->to)[at] = random_poisson(job, (c[i] + 0.5) * 0x1p-32);
            break;
        default:
            ((uint32_t *)job->to)[at] = c[i];
        }
    }
}

/* ---- Sobol --------------------------------------------------------------------------------------------------------
 */

RANDOM_CODE uint64_t random_sobol(const uint64_t *directions, uint64_t point) {
    uint64_t gray = point ^ point >> 1, x = 0;
    for (int i = 0; gray; i++, gray >>= 1)
        if (gray & 1)
            x ^= directions[i];
    return x;
}

/* Element `at` of the output. Numbers of 32 bits are the upper halves of those of 64. */
RANDOM_CODE void random_fill_point(int is_wide, const struct random_job *job, uint64_t at) {
    uint64_t x = random_sobol(job->directions + at / job->n_points * 64, job->position + at % job->n_points);
    uint32_t high = (uint32_t)(x >> 32);
    double u = is_wide ? (double)(x >> 11) * 0x1p-53 + 0x1p-54 : high * 0x1p-32 + 0x1p-32;
    switch (job->kind) {
    case RANDOM_UNIFORM:
        ((float *)job->to)[at] = random_uniform(high);
        break;
    case RANDOM_UNIFORM_DOUBLE:
        ((double *)job->to)[at] = u;
        break;
    case RANDOM_NORMAL:
        random_put_normal(job, at, (float)random_inverse_normal(high * 0x1p-32 + (high >> 31 ? 0 : 0x1p-33)));
        break;
    case RANDOM_NORMAL_DOUBLE:
        random_put_normal_double(job, at, random_inverse_normal(is_wide ? u : high * 0x1p-32 + 0x1p-33));
        break;
    case RANDOM_POISSON:
        ((uint32_t *)job->to)[at] = random_poisson(job, (high + 0.5) * 0x1p-32);
        break;
    case RANDOM_BITS64:
        ((uint64_t *)job->to)[at] = x;
        break;
    default:
        ((uint32_t *)job->to)[at] = high;
    }
}
