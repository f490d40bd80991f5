/* Jobs of the kernels of sparse.cu, which the library fills in. */
#pragma once

#ifdef __CUDA_ARCH__
typedef long long int64_t;
#else
#include <stdint.h>
#endif

/* Indices of 32 or 64 bits. */
struct sparse_indices {
    const void *base;
    int is_wide;
};

/* A sparse matrix by lines, which are rows or columns. Line i consists of the elements from offset[i] to offset[i + 1],
 * or of those whose `line` is i, if there are no offsets: then the lines are in order. */
struct sparse_matrix {
    struct sparse_indices offset, line, place; /* place: the column of an element in a row, or the row in a column */
    const void *value;
    int64_t n_lines, n_elements, first; /* first: the first index, 0 or 1 */
};

/* Element (i, j): base[i * row_step + j * column_step]. */
struct sparse_dense {
    void *base;
    int64_t row_step, column_step;
};

/* to = alpha op(matrix) from + beta to, with n_columns columns. */
struct sparse_product {
    struct sparse_matrix matrix;
    struct sparse_dense from, to;
    int64_t n_rows, n_columns; /* of `to` */
    const void *alpha, *beta;  /* on the device, or NULL */
    double alpha_value, beta_value;
};

/* Copies between a sparse and a dense matrix; rows of `dense` are lines of `matrix`. */
struct sparse_conversion {
    struct sparse_matrix matrix;
    struct sparse_dense dense;
    int64_t n_columns;
};
