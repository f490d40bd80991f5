/* cuBLAS level 3 besides gemm: matrices with structure. Products use the kernel of gemm, which loads the stored
 * triangle of an operand and stores one triangle of the result. */
#include "cublas/core/core.h"

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static bool is_fill(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER; }
static bool is_side(cublasSideMode_t side) { return (unsigned)side <= CUBLAS_SIDE_RIGHT; }
static bool is_double(int element) { return element == ELEMENT_F64 || element == ELEMENT_C64; }
static int compute_of(int element) { return is_double(element) ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F; }

static struct matrix structured(struct matrix matrix, enum matrix_shape shape, bool is_lower) {
    matrix.shape = shape;
    matrix.fill = is_lower ? FILL_LOWER : FILL_UPPER;
    return matrix;
}

/* ---- symm, hemm ----------------------------------------------------------------------------------------------------
 */

static cublasStatus_t symm(cublasHandle_t handle, const char *name, enum matrix_shape shape, cublasSideMode_t side,
                           cublasFillMode_t fill, int64_t m, int64_t n, const void *alpha, int element, const void *a,
                           int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc) {
    CUBLAS_ENTER(handle);
    bool is_left = side == CUBLAS_SIDE_LEFT;
    if (!is_side(side) || !is_fill(fill) || m < 0 || n < 0 || lda < most(1, is_left ? m : n) || ldb < most(1, m) ||
        ldc < most(1, m) || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct matrix with_structure = structured(cublas_matrix(a, element, lda), shape, fill == CUBLAS_FILL_MODE_LOWER);
    struct matrix plain = cublas_matrix(b, element, ldb);
    struct product p = {.m = m, .n = n, .k = is_left ? m : n, .n_batches = 1, .fill = FILL_ALL};
    p.a = is_left ? with_structure : plain;
    p.b = is_left ? plain : with_structure;
    p.c = p.d = cublas_matrix(c, element, ldc);
    p.alpha = cublas_scalar(handle, alpha, element);
    p.beta = cublas_scalar(handle, beta, element);
    return cublas_product(handle, name, &p, compute_of(element));
}

/* ---- syrk and its relatives: C = alpha op(A) op(B)' + beta C -------------------------------------------------------
 */

struct rank_update {
    const char *name;
    bool conjugates; /* Hermitian */
    bool is_twice;   /* and the same with A and B exchanged */
    cublasFillMode_t fill;
    cublasOperation_t operation;
    int64_t n, k;
    const void *alpha, *beta;
    int alpha_type, beta_type, element;
    const void *a, *b;
    int64_t lda, ldb;
    void *c;
    int64_t ldc;
};

static struct product make_update(const struct rank_update *u, const void *a, int64_t lda, const void *b, int64_t ldb) {
    cublasOperation_t other = u->conjugates ? CUBLAS_OP_C : CUBLAS_OP_T;
    bool is_plain = u->operation == CUBLAS_OP_N;
    struct product p = {.m = u->n, .n = u->n, .k = u->k, .n_batches = 1, .fill = (int)u->fill};
    p.a = cublas_operand(a, u->element, lda, is_plain ? CUBLAS_OP_N : other);
    p.b = cublas_operand(b, u->element, ldb, is_plain ? other : CUBLAS_OP_N);
    p.c = p.d = cublas_matrix(u->c, u->element, u->ldc);
    return p;
}

static cublasStatus_t update(cublasHandle_t handle, const struct rank_update *u) {
    CUBLAS_ENTER(handle);
    int64_t rows = u->operation == CUBLAS_OP_N ? u->n : u->k;
    if (!is_fill(u->fill) || !cublas_is_operation(u->operation) || u->n < 0 || u->k < 0 || u->lda < most(1, rows) ||
        u->ldb < most(1, rows) || u->ldc < most(1, u->n) || !u->alpha || !u->beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct product p = make_update(u, u->a, u->lda, u->b, u->ldb);
    p.alpha = cublas_scalar(handle, u->alpha, u->alpha_type);
    p.beta = cublas_scalar(handle, u->beta, u->beta_type);
    if (u->is_twice && u->conjugates && p.alpha.at)
        return CUBLAS_REFUSE(u->name, "alpha in device memory is not supported");
    cublasStatus_t status = cublas_product(handle, u->name, &p, compute_of(u->element));
    if (status != CUBLAS_STATUS_SUCCESS || !u->is_twice)
        return status;
    struct product second = make_update(u, u->b, u->ldb, u->a, u->lda);
    second.alpha = p.alpha;
    second.alpha.im = u->conjugates ? -p.alpha.im : p.alpha.im;
    second.beta = (struct scalar){.re = 1, .type = u->element};
    return cublas_product(handle, u->name, &second, compute_of(u->element));
}

/* ---- trmm, trsm ----------------------------------------------------------------------------------------------------
 */

struct triangular {
    cublasSideMode_t side;
    cublasFillMode_t fill;
    cublasOperation_t operation;
    cublasDiagType_t diagonal;
    int64_t m, n;
    const void *alpha;
    int element;
    const void *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
};

static bool is_triangular(const struct triangular *t) {
    return is_side(t->side) && is_fill(t->fill) && cublas_is_operation(t->operation) &&
           (unsigned)t->diagonal <= CUBLAS_DIAG_UNIT && t->m >= 0 && t->n >= 0 &&
           t->lda >= most(1, t->side == CUBLAS_SIDE_LEFT ? t->m : t->n) && t->ldb >= most(1, t->m) && t->alpha;
}

/* op(A), or its transpose; transposing exchanges the triangles. */
static struct matrix triangle_of(const struct triangular *t, bool is_transposed) {
    bool is_plain = (t->operation == CUBLAS_OP_N) != is_transposed;
    struct matrix matrix = cublas_operand(t->a, t->element, t->lda, is_plain ? CUBLAS_OP_N : CUBLAS_OP_T);
    matrix.is_conjugated = t->operation == CUBLAS_OP_C;
    matrix.has_unit_diagonal = t->diagonal == CUBLAS_DIAG_UNIT;
    return structured(matrix, SHAPE_TRIANGULAR, (t->fill == CUBLAS_FILL_MODE_LOWER) == is_plain);
}

/* C may be B: then the product is of a copy. */
static cublasStatus_t trmm(cublasHandle_t handle, const char *name, const struct triangular *t, void *c, int64_t ldc) {
    CUBLAS_ENTER(handle);
    if (!is_triangular(t) || ldc < most(1, t->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    bool is_left = t->side == CUBLAS_SIDE_LEFT;
    struct matrix b = cublas_matrix(t->b, t->element, t->ldb);
    if (c == t->b && t->m && t->n) {
        void *copy = cublas_scratch(handle, (size_t)t->m * (size_t)t->n * cublas_element_bytes(t->element));
        struct matrix_sum job = {.a = b, .b = b, .m = t->m, .n = t->n, .alpha = {.re = 1}};
        job.c = b = cublas_matrix(copy, t->element, t->m);
        if (!copy)
            return CUBLAS_STATUS_ALLOC_FAILED;
        cublasStatus_t status = cublas_each_element(handle, "add", &job);
        if (status != CUBLAS_STATUS_SUCCESS)
            return status;
    }
    struct product p = {.m = t->m, .n = t->n, .k = is_left ? t->m : t->n, .n_batches = 1, .fill = FILL_ALL};
    p.a = is_left ? triangle_of(t, false) : b;
    p.b = is_left ? b : triangle_of(t, false);
    p.c = p.d = cublas_matrix(c, t->element, ldc);
    p.alpha = cublas_scalar(handle, t->alpha, t->element);
    p.beta = (struct scalar){.type = t->element};
    return cublas_product(handle, name, &p, compute_of(t->element));
}

/* X op(A) = B is op(A)' X' = B'. */
static cublasStatus_t trsm(cublasHandle_t handle, const struct triangular *t, int64_t n_batches, bool has_arrays) {
    CUBLAS_ENTER(handle);
    if (!is_triangular(t) || n_batches < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    bool is_left = t->side == CUBLAS_SIDE_LEFT;
    struct triangle job = {.m = is_left ? t->m : t->n, .n = is_left ? t->n : t->m, .n_batches = n_batches};
    job.a = cublas_batch(triangle_of(t, !is_left), has_arrays ? t->a : NULL, 0);
    job.b = cublas_operand(t->b, t->element, t->ldb, is_left ? CUBLAS_OP_N : CUBLAS_OP_T);
    job.b = cublas_batch(job.b, has_arrays ? t->b : NULL, 0);
    job.alpha = cublas_scalar(handle, t->alpha, t->element);
    return cublas_solve(handle, &job);
}

/* ---- geam, dgmm ----------------------------------------------------------------------------------------------------
 */

static cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n,
                           const void *alpha, int element, const void *a, int64_t lda, const void *beta, const void *b,
                           int64_t ldb, void *c, int64_t ldc) {
    CUBLAS_ENTER(handle);
    if (!cublas_is_operation(op_a) || !cublas_is_operation(op_b) || m < 0 || n < 0 ||
        lda < most(1, op_a == CUBLAS_OP_N ? m : n) || ldb < most(1, op_b == CUBLAS_OP_N ? m : n) || ldc < most(1, m) ||
        !alpha || !beta || (c == a && op_a != CUBLAS_OP_N) || (c == b && op_b != CUBLAS_OP_N))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct matrix_sum job = {.m = m, .n = n};
    job.a = cublas_operand(a, element, lda, op_a);
    job.b = cublas_operand(b, element, ldb, op_b);
    job.c = cublas_matrix(c, element, ldc);
    job.alpha = cublas_scalar(handle, alpha, element);
    job.beta = cublas_scalar(handle, beta, element);
    return cublas_each_element(handle, "add", &job);
}

static cublasStatus_t dgmm(cublasHandle_t handle, cublasSideMode_t side, int64_t m, int64_t n, int element,
                           const void *a, int64_t lda, const void *x, int64_t incx, void *c, int64_t ldc) {
    CUBLAS_ENTER(handle);
    if (!is_side(side) || m < 0 || n < 0 || lda < most(1, m) || ldc < most(1, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct matrix_sum job = {.m = m, .n = n, .scales_rows = side == CUBLAS_SIDE_LEFT};
    job.a = cublas_matrix(a, element, lda);
    job.c = cublas_matrix(c, element, ldc);
    job.x = cublas_vector(x, element, side == CUBLAS_SIDE_LEFT ? m : n, incx);
    return cublas_each_element(handle, "scale", &job);
}

/* ---- The interface -------------------------------------------------------------------------------------------------
 */

#define WITH_SIZES(FUNCTIONS, ...)                                                                                     \
    FUNCTIONS(__VA_ARGS__, int, )                                                                                      \
    FUNCTIONS(__VA_ARGS__, int64_t, _64)

#define SYMM(function, T, number, shape, I, suffix)                                                                    \
    CUBLAS_API(cublas##function##_v2##suffix, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,     \
               I m, I n, const T *alpha, const T *a, I lda, const T *b, I ldb, const T *beta, T *c, I ldc) {           \
        return symm(handle, __func__, shape, side, fill, m, n, alpha, number, a, lda, b, ldb, beta, c, ldc);           \
    }

#define UPDATE_ARGUMENTS                                                                                               \
    .name = __func__, .fill = fill, .operation = operation, .n = n, .k = k, .alpha = alpha, .beta = beta, .a = a,      \
    .lda = lda, .c = c, .ldc = ldc

/* One matrix: alpha and beta have type V. */
#define UPDATE(function, T, number, V, scalar, is_hermitian, I, suffix)                                                \
    CUBLAS_API(cublas##function##_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill,                            \
               cublasOperation_t operation, I n, I k, const V *alpha, const T *a, I lda, const V *beta, T *c, I ldc) { \
        return update(handle,                                                                                          \
                      &(struct rank_update){UPDATE_ARGUMENTS, .alpha_type = scalar, .beta_type = scalar,               \
                                            .element = number, .conjugates = is_hermitian, .b = a, .ldb = lda});       \
    }

/* Two: beta has type V. */
#define UPDATE_TWO(function, T, number, V, scalar, is_hermitian, exchanges, I, suffix)                                 \
    CUBLAS_API(cublas##function##suffix, cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t operation,    \
               I n, I k, const T *alpha, const T *a, I lda, const T *b, I ldb, const V *beta, T *c, I ldc) {           \
        return update(handle, &(struct rank_update){UPDATE_ARGUMENTS, .alpha_type = number, .beta_type = scalar,       \
                                                    .element = number, .conjugates = is_hermitian, .b = b, .ldb = ldb, \
                                                    .is_twice = exchanges});                                           \
    }

#define TRIANGLE (&(struct triangular){side, fill, operation, diagonal, m, n, alpha, element, a, lda, b, ldb})

#define FUNCTIONS(S, T, number, I, suffix)                                                                             \
    SYMM(S##symm, T, number, SHAPE_SYMMETRIC, I, suffix)                                                               \
    UPDATE(S##syrk, T, number, T, number, false, I, suffix)                                                            \
    UPDATE_TWO(S##syr2k_v2, T, number, T, number, false, true, I, suffix)                                              \
    UPDATE_TWO(S##syrkx, T, number, T, number, false, false, I, suffix)                                                \
    CUBLAS_API(cublas##S##trmm_v2##suffix, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,        \
               cublasOperation_t operation, cublasDiagType_t diagonal, I m, I n, const T *alpha, const T *a, I lda,    \
               const T *b, I ldb, T *c, I ldc) {                                                                       \
        const int element = number;                                                                                    \
        return trmm(handle, __func__, TRIANGLE, c, ldc);                                                               \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##trsm_v2##suffix, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,        \
               cublasOperation_t operation, cublasDiagType_t diagonal, I m, I n, const T *alpha, const T *a, I lda,    \
               T *b, I ldb) {                                                                                          \
        const int element = number;                                                                                    \
        return trsm(handle, TRIANGLE, 1, false);                                                                       \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##trsmBatched##suffix, cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,    \
               cublasOperation_t operation, cublasDiagType_t diagonal, I m, I n, const T *alpha, const T *const a[],   \
               I lda, T *const b[], I ldb, I n_batches) {                                                              \
        const int element = number;                                                                                    \
        return trsm(handle, TRIANGLE, n_batches, true);                                                                \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##geam##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m,    \
               I n, const T *alpha, const T *a, I lda, const T *beta, const T *b, I ldb, T *c, I ldc) {                \
        return geam(handle, op_a, op_b, m, n, alpha, number, a, lda, beta, b, ldb, c, ldc);                            \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##dgmm##suffix, cublasHandle_t handle, cublasSideMode_t side, I m, I n, const T *a, I lda,     \
               const T *x, I incx, T *c, I ldc) {                                                                      \
        return dgmm(handle, side, m, n, number, a, lda, x, incx, c, ldc);                                              \
    }
WITH_SIZES(FUNCTIONS, S, float, ELEMENT_F32)
WITH_SIZES(FUNCTIONS, D, double, ELEMENT_F64)
WITH_SIZES(FUNCTIONS, C, cuComplex, ELEMENT_C32)
WITH_SIZES(FUNCTIONS, Z, cuDoubleComplex, ELEMENT_C64)

#define HERMITIAN(S, T, number, R, real, I, suffix)                                                                    \
    SYMM(S##hemm, T, number, SHAPE_HERMITIAN, I, suffix)                                                               \
    UPDATE(S##herk, T, number, R, real, true, I, suffix)                                                               \
    UPDATE_TWO(S##her2k_v2, T, number, R, real, true, true, I, suffix)                                                 \
    UPDATE_TWO(S##herkx, T, number, R, real, true, false, I, suffix)
WITH_SIZES(HERMITIAN, C, cuComplex, ELEMENT_C32, float, ELEMENT_F32)
WITH_SIZES(HERMITIAN, Z, cuDoubleComplex, ELEMENT_C64, double, ELEMENT_F64)
