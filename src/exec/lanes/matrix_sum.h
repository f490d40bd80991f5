/* Sums of products, for matrix instructions: one row of A times columns of B, all in the form of struct exec_terms. */
#pragma once

#include <stdint.h>

enum {
    EXEC_SUM_COLUMNS = 8,     /* at a time */
    EXEC_SUM_TERMS = 16,      /* at most, with EXEC_SUM_FRACTION: more could overflow 32 bits */
    EXEC_SUM_MOST_TERMS = 32, /* with a smaller fraction */
    EXEC_SUM_FRACTION = 25,   /* bits kept below the largest exponent */
    EXEC_NO_EXPONENT = -4096  /* of a zero */
};

/* A number is magnitude * 2^exponent / 2^fraction, where the format determines the fraction bits; sign is 0 or -1. */
struct exec_number {
    int32_t magnitude, exponent, sign;
};

struct exec_sum {
    unsigned n_terms;
    int32_t fraction;                     /* bits kept below the largest exponent */
    unsigned product_shift, addend_shift; /* the fraction less the fraction bits of products and of the addend */
    const struct exec_number *a[EXEC_SUM_MOST_TERMS];
    const int32_t *b_magnitude[EXEC_SUM_MOST_TERMS], *b_exponent[EXEC_SUM_MOST_TERMS],
        *b_sign[EXEC_SUM_MOST_TERMS]; /* of the columns */
    int32_t c_magnitude[EXEC_SUM_COLUMNS], c_exponent[EXEC_SUM_COLUMNS], c_sign[EXEC_SUM_COLUMNS];
    double result[EXEC_SUM_COLUMNS]; /* exact */
};

typedef void exec_sum_fn(struct exec_sum *sum);
