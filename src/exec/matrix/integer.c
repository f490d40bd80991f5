/* Products of integer matrices: s8, u8, s4, u4, and b1, whose product is the number of ones of a logical operation.
 * Sums wrap around, or saturate with .satfinite. */
#include "exec/matrix/matrix.h"

enum { MAX_K = 128 };

/* Unpacks a line of elements. */
static void unpack(const unsigned char *line, enum ptx_element element, unsigned n, int32_t *value) {
    for (unsigned i = 0; i < n; i++)
        switch (element) {
        case PTX_ELEMENT_S8:
            value[i] = (int8_t)line[i];
            break;
        case PTX_ELEMENT_U8:
            value[i] = line[i];
            break;
        default: {
            int32_t nibble = line[i / 2] >> 4 * (i % 2) & 15;
            value[i] = element == PTX_ELEMENT_S4 ? (nibble ^ 8) - 8 : nibble;
        }
        }
}

static int32_t saturate(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

/* Puts the elements of a sparse row at their columns, among zeros. */
static void spread(const struct exec_matrix *matrix, const struct exec_dense *dense, unsigned i, int32_t *a) {
    int32_t packed[MAX_K / 2];
    uint8_t at[MAX_K / 2];
    unsigned n = matrix->k / 2u;
    memcpy(packed, a, n * sizeof *a);
    memset(a, 0, matrix->k * sizeof *a);
    exec_matrix_find_elements(matrix, dense, i, at);
    for (unsigned x = 0; x < n; x++)
        a[at[x]] = packed[x];
}

void exec_multiply_integer(const struct exec_matrix *matrix, struct exec_dense *dense) {
    unsigned m = matrix->m, n = matrix->n, k = matrix->k;
    bool is_sparse = matrix->insn->matrix->is_sparse;
    unsigned a_k = is_sparse ? k / 2 : k, a_bytes = a_k * ptx_element_bits(matrix->element[PTX_MATRIX_A]) / 8,
             b_bytes = k * ptx_element_bits(matrix->element[PTX_MATRIX_B]) / 8;
    int32_t a[MAX_K], b[32][MAX_K];
    for (unsigned j = 0; j < dense->n; j++)
        unpack(dense->b + j * b_bytes, matrix->element[PTX_MATRIX_B], k, b[j]);
    for (unsigned i = 0; i < m; i++) {
        unpack(dense->a + i * a_bytes, matrix->element[PTX_MATRIX_A], a_k, a);
        if (is_sparse)
            spread(matrix, dense, i, a);
        for (unsigned j = 0; j < dense->n; j++) {
            int32_t sum = 0; /* k products of at most 2^16 */
            for (unsigned x = 0; x < k; x++)
                sum += a[x] * b[j][x];
            int32_t c = ((const int32_t *)dense->c)[i * n + j];
            ((int32_t *)dense->d)[i * n + j] =
                matrix->saturates ? saturate((int64_t)c + sum) : (int32_t)((uint32_t)c + (uint32_t)sum);
        }
    }
}

void exec_multiply_bits(const struct exec_matrix *matrix, struct exec_dense *dense) {
    unsigned m = matrix->m, n = matrix->n, words = matrix->k / 32;
    const uint32_t *a = (const uint32_t *)dense->a, *b = (const uint32_t *)dense->b, *c = (const uint32_t *)dense->c;
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < dense->n; j++) {
            uint32_t sum = c[i * n + j];
            for (unsigned x = 0; x < words; x++) {
                uint32_t p = a[i * words + x], q = b[j * words + x];
                sum += (uint32_t)__builtin_popcount(matrix->is_and ? p & q : p ^ q);
            }
            ((uint32_t *)dense->d)[i * n + j] = sum;
        }
}
