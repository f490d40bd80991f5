/* The sum of products of a matrix instruction, for eight columns at a time. matrix/float.c contains the rule. */
#include "exec/lanes/lanes.h"

#include <string.h>

#define FOR_COLUMNS for (int j = 0; j < EXEC_SUM_COLUMNS; j++)

static void find_top(const struct exec_sum *sum, int32_t *top) {
    int32_t t[EXEC_SUM_COLUMNS];
    memcpy(t, sum->c_exponent, sizeof t);
    for (unsigned x = 0; x < sum->n_terms; x++) {
        int32_t a = sum->a[x]->exponent;
        const int32_t *b = sum->b_exponent[x];
        FOR_COLUMNS t[j] = a + b[j] > t[j] ? a + b[j] : t[j];
    }
    memcpy(top, t, sizeof t);
}

/* Products are less than 2^(fraction + 2) after alignment: 16 of them fit, with a smaller fraction 32. */
static void add_products(const struct exec_sum *sum, const int32_t *top, int32_t *total) {
    int32_t t[EXEC_SUM_COLUMNS] = {0};
    for (unsigned x = 0; x < sum->n_terms; x++) {
        const struct exec_number *a = sum->a[x];
        const int32_t *b = sum->b_magnitude[x], *exponent = sum->b_exponent[x], *sign = sum->b_sign[x];
        FOR_COLUMNS {
            int32_t distance = top[j] - (a->exponent + exponent[j]);
            uint32_t shift = (uint32_t)(distance < 31 ? distance : 31);
            int32_t term = (int32_t)((uint32_t)(a->magnitude * b[j]) << sum->product_shift >> shift);
            int32_t flip = a->sign ^ sign[j];
            t[j] += (term ^ flip) - flip;
        }
    }
    memcpy(total, t, sizeof t);
}

void EXEC_NAME(exec_sum_products)(struct exec_sum *sum) {
    int32_t top[EXEC_SUM_COLUMNS], products[EXEC_SUM_COLUMNS];
    find_top(sum, top);
    add_products(sum, top, products);
    FOR_COLUMNS {
        int32_t distance = top[j] - sum->c_exponent[j];
        int32_t term = (int32_t)((uint32_t)sum->c_magnitude[j] << sum->addend_shift >> (distance < 31 ? distance : 31));
        int64_t total = (int64_t)products[j] + ((term ^ sum->c_sign[j]) - sum->c_sign[j]);
        int32_t exponent = top[j] < -900 ? -900 : top[j]; /* without a term the sum is zero */
        uint64_t scale = (uint64_t)(exponent - sum->fraction + 1023) << 52;
        double factor;
        memcpy(&factor, &scale, sizeof factor);
        sum->result[j] = (double)total * factor;
    }
}
