/* The parameters of kernels over vectors (vector.cu), and of those over one matrix (matrix.cu). */
#pragma once

#include "cublas/kernels/product.h"

struct vector {
    void *base;
    void *const *array; /* in device memory: one pointer for each vector of a batch, instead of base */
    long long step;     /* distance of neighbours, in elements */
    long long batch;
    int type;
};

struct vector_job {
    long long n;
    struct vector x, y;
    struct scalar alpha, beta; /* of rot: cosine and sine */
    /* Reductions: each block writes one partial result. The last step reads `n` of them instead of elements. */
    void *partials;
    int is_last;
    void *result;
    int result_type;
    double parameters[5]; /* of rotm: flag and matrix */
    const void *parameters_at;
};

/* y = alpha A x + beta y */
struct matrix_vector {
    struct matrix a;
    struct vector x, y;
    struct scalar alpha, beta;
    long long m, n, n_batches;
};

/* C = alpha A + beta B; with x: C = A diag(x) or diag(x) A */
struct matrix_sum {
    struct matrix a, b, c;
    struct vector x;
    struct scalar alpha, beta;
    long long m, n;
    int scales_rows;
};

/* Solves A X = alpha B; X replaces B. A is a triangle of m x m, and B has n columns. */
struct triangle {
    struct matrix a, b;
    struct scalar alpha;
    long long m, n, n_batches;
};

/* Factors matrices of n x n in batches, and solves systems with the factors. */
struct factors {
    struct matrix source; /* copied to `a` first, unless neither base nor array is set */
    struct matrix a;      /* becomes L and U */
    struct matrix b;      /* the right sides, replaced by the solutions */
    int *pivots;          /* n for each matrix, from 1; NULL: no rows are exchanged */
    int *info;            /* for each matrix: the first pivot that is zero, from 1, or 0 */
    long long n, n_right, n_batches;
    int is_transposed, is_conjugated; /* solve with the transpose */
    int is_inverse;                   /* the right sides are the identity */
};
