/* The parameters of the matrix products' kernels: host code fills them in, and every kernel of product.cu and
 * product_mma.cu takes one struct. D = epilogue(alpha op(A) op(B) + beta C), for a batch of matrices.
 *
 * Strides replace layouts: a transposed matrix is one whose strides are exchanged. */
#pragma once

/* Element types, with the numbers of cudaDataType. */
enum element_type {
    ELEMENT_F32 = 0,
    ELEMENT_F64 = 1,
    ELEMENT_F16 = 2,
    ELEMENT_I8 = 3,
    ELEMENT_C32 = 4,
    ELEMENT_C64 = 5,
    ELEMENT_I32 = 10,
    ELEMENT_BF16 = 14,
};

/* Which elements of a matrix are stored, in its own coordinates. */
enum matrix_shape {
    SHAPE_GENERAL,
    SHAPE_SYMMETRIC, /* the other triangle mirrors the stored one */
    SHAPE_HERMITIAN, /* the same, conjugated */
    SHAPE_TRIANGULAR /* the other triangle is zero */
};

enum matrix_fill { FILL_LOWER, FILL_UPPER, FILL_ALL };

struct matrix {
    void *base;
    void *const *array; /* in device memory: one pointer for each matrix of a batch, instead of base */
    long long row, col; /* distance of neighbouring rows and columns, in elements */
    long long batch;    /* distance of neighbouring matrices of a batch */
    int type;           /* enum element_type */
    int is_conjugated;
    int shape, fill; /* of operands */
    int has_unit_diagonal;
};

/* A number from the host, or in device memory if `at` is set. */
struct scalar {
    double re, im;
    const void *at;
    long long batch; /* distance of the numbers of a batch; 0: one number serves all */
    int type;        /* of the number at `at` */
};

enum epilogue {
    EPILOGUE_BIAS = 1, /* adds a vector to each column */
    EPILOGUE_RELU = 2,
    EPILOGUE_GELU = 4,
    EPILOGUE_KEEP = 8,       /* stores the activation's input: bits for relu, values for gelu */
    EPILOGUE_RELU_BACK = 16, /* multiplies by the derivative at the kept input */
    EPILOGUE_GELU_BACK = 32,
};

struct product {
    struct matrix a, b, c, d;
    struct scalar alpha, beta;
    long long m, n, k;
    long long n_batches;
    int fill; /* which elements of D are written: enum matrix_fill */
    int epilogue;
    struct matrix bias; /* a column: row is 1 */
    struct matrix kept; /* relu: the bits of a column start at byte `col` / 8 */
};
