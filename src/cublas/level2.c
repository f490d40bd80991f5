/* cuBLAS level 2: a matrix and vectors. */
#include "cublas/core/core.h"

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static bool is_fill(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER; }
static bool is_diagonal(cublasDiagType_t diagonal) { return (unsigned)diagonal <= CUBLAS_DIAG_UNIT; }

/* ---- y = alpha op(A) x + beta y -----------------------------------------------------------------------------------
 */

struct gemv {
    cublasOperation_t operation;
    int64_t m, n;
    const void *alpha, *beta;
    int element, scale;
    struct {
        const void *at; /* or an array of pointers */
        int64_t step;   /* of A: the leading dimension */
        long long stride;
    } a, x, y;
    int64_t n_batches;
    bool has_arrays;
};

static struct vector batch_of(struct vector vector, const void *array, long long stride) {
    vector.array = array;
    vector.batch = stride;
    return vector;
}

static cublasStatus_t gemv(cublasHandle_t handle, const struct gemv *g) {
    CUBLAS_ENTER(handle);
    if (!cublas_is_operation(g->operation) || g->m < 0 || g->n < 0 || g->a.step < most(1, g->m) || !g->x.step ||
        !g->y.step || !g->alpha || !g->beta || g->n_batches < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (g->has_arrays && (g->x.step < 0 || g->y.step < 0))
        return CUBLAS_REFUSE("gemv", "a batch with negative steps is not supported");
    bool is_plain = g->operation == CUBLAS_OP_N;
    struct matrix_vector job = {.m = is_plain ? g->m : g->n, .n = is_plain ? g->n : g->m, .n_batches = g->n_batches};
    job.a = cublas_operand(g->a.at, g->element, g->a.step, g->operation);
    job.a = cublas_batch(job.a, g->has_arrays ? g->a.at : NULL, g->a.stride);
    job.x = cublas_vector(g->x.at, g->element, job.n, g->x.step);
    job.x = batch_of(job.x, g->has_arrays ? g->x.at : NULL, g->x.stride);
    job.y = cublas_vector(g->y.at, g->element, job.m, g->y.step);
    job.y = batch_of(job.y, g->has_arrays ? g->y.at : NULL, g->y.stride);
    job.alpha = cublas_scalar(handle, g->alpha, g->scale);
    job.beta = cublas_scalar(handle, g->beta, g->scale);
    return cublas_times(handle, &job);
}

#define GEMV_ARGUMENTS(type, scalar)                                                                                   \
    .operation = operation, .m = m, .n = n, .alpha = alpha, .beta = beta, .element = type, .scale = scalar

#define BATCHES(S, T, element, V, scalar, I, suffix)                                                                   \
    CUBLAS_API(cublas##S##gemvBatched##suffix, cublasHandle_t handle, cublasOperation_t operation, I m, I n,           \
               const V *alpha, const T *const a[], I lda, const T *const x[], I incx, const V *beta, T *const y[],     \
               I incy, I n_batches) {                                                                                  \
        return gemv(handle, &(struct gemv){GEMV_ARGUMENTS(element, scalar), .a = {a, lda, 0}, .x = {x, incx, 0},       \
                                           .y = {y, incy, 0}, .n_batches = n_batches, .has_arrays = true});            \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##gemvStridedBatched##suffix, cublasHandle_t handle, cublasOperation_t operation, I m, I n,    \
               const V *alpha, const T *a, I lda, long long stride_a, const T *x, I incx, long long stride_x,          \
               const V *beta, T *y, I incy, long long stride_y, I n_batches) {                                         \
        return gemv(handle,                                                                                            \
                    &(struct gemv){GEMV_ARGUMENTS(element, scalar), .a = {a, lda, stride_a}, .x = {x, incx, stride_x}, \
                                   .y = {y, incy, stride_y}, .n_batches = n_batches});                                 \
    }

/* ---- Symmetric and Hermitian matrices -----------------------------------------------------------------------------
 */

static cublasStatus_t symv(cublasHandle_t handle, enum matrix_shape shape, cublasFillMode_t fill, int64_t n,
                           const void *alpha, int element, const void *a, int64_t lda, const void *x, int64_t incx,
                           const void *beta, void *y, int64_t incy) {
    CUBLAS_ENTER(handle);
    if (!is_fill(fill) || n < 0 || lda < most(1, n) || !incx || !incy || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct matrix_vector job = {.m = n, .n = n, .n_batches = 1};
    job.a = cublas_matrix(a, element, lda);
    job.a.shape = shape;
    job.a.fill = (int)fill;
    job.x = cublas_vector(x, element, n, incx);
    job.y = cublas_vector(y, element, n, incy);
    job.alpha = cublas_scalar(handle, alpha, element);
    job.beta = cublas_scalar(handle, beta, element);
    return cublas_times(handle, &job);
}

/* ---- Triangular matrices ------------------------------------------------------------------------------------------
 */

struct triangular {
    cublasFillMode_t fill;
    cublasOperation_t operation;
    cublasDiagType_t diagonal;
    int64_t n;
    int element;
    const void *a;
    int64_t lda;
    void *x;
    int64_t incx;
};

static bool is_triangular(const struct triangular *t) {
    return is_fill(t->fill) && cublas_is_operation(t->operation) && is_diagonal(t->diagonal) && t->n >= 0 &&
           t->lda >= most(1, t->n) && t->incx;
}

/* Transposing exchanges the triangles. */
static struct matrix triangle_of(const struct triangular *t) {
    struct matrix matrix = cublas_operand(t->a, t->element, t->lda, t->operation);
    bool is_lower = (t->fill == CUBLAS_FILL_MODE_LOWER) == (t->operation == CUBLAS_OP_N);
    matrix.shape = SHAPE_TRIANGULAR;
    matrix.fill = is_lower ? FILL_LOWER : FILL_UPPER;
    matrix.has_unit_diagonal = t->diagonal == CUBLAS_DIAG_UNIT;
    return matrix;
}

/* x = op(A) x, from a copy of x */
static cublasStatus_t trmv(cublasHandle_t handle, const struct triangular *t) {
    CUBLAS_ENTER(handle);
    if (!is_triangular(t))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!t->n)
        return CUBLAS_STATUS_SUCCESS;
    void *copy = cublas_scratch(handle, (size_t)t->n * cublas_element_bytes(t->element));
    if (!copy)
        return CUBLAS_STATUS_ALLOC_FAILED;
    struct vector_job copying = {.n = t->n, .x = cublas_vector(t->x, t->element, t->n, t->incx)};
    copying.y = cublas_vector(copy, t->element, t->n, 1);
    cublasStatus_t status = cublas_launch(handle, CUBLAS_VECTOR, "copy", t->element,
                                          (const long long[]){(t->n + 255) / 256, 1, 1}, 256, &copying);
    struct matrix_vector job = {.m = t->n, .n = t->n, .n_batches = 1, .alpha = {.re = 1}};
    job.a = triangle_of(t);
    job.x = copying.y;
    job.y = copying.x;
    return status != CUBLAS_STATUS_SUCCESS ? status : cublas_times(handle, &job);
}

/* x = op(A)^-1 x */
static cublasStatus_t trsv(cublasHandle_t handle, const struct triangular *t) {
    CUBLAS_ENTER(handle);
    if (!is_triangular(t))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector x = cublas_vector(t->x, t->element, t->n, t->incx);
    struct triangle job = {.a = triangle_of(t), .m = t->n, .n = 1, .n_batches = 1, .alpha = {.re = 1}};
    job.b = cublas_matrix(x.base, t->element, 0);
    job.b.row = x.step;
    return cublas_solve(handle, &job);
}

/* ---- Sums of outer products: matrix products with k = 1 -----------------------------------------------------------
 */

/* A += alpha x y', conjugated if `conjugates` says so. */
static cublasStatus_t outer(cublasHandle_t handle, const char *name, struct scalar alpha, int64_t m, int64_t n,
                            struct vector x, struct vector y, bool conjugates, void *a, int64_t lda, int fill) {
    struct product p = {.m = m, .n = n, .k = 1, .n_batches = 1, .fill = fill, .alpha = alpha};
    p.a = cublas_matrix(x.base, x.type, 0);
    p.a.row = x.step;
    p.b = cublas_matrix(y.base, y.type, y.step);
    p.b.is_conjugated = conjugates;
    p.c = p.d = cublas_matrix(a, x.type, lda);
    p.beta = (struct scalar){.re = 1, .type = x.type};
    bool is_double = x.type == ELEMENT_F64 || x.type == ELEMENT_C64;
    return cublas_product(handle, name, &p, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F);
}

static cublasStatus_t ger(cublasHandle_t handle, const char *name, bool conjugates, int64_t m, int64_t n,
                          const void *alpha, int element, const void *x, int64_t incx, const void *y, int64_t incy,
                          void *a, int64_t lda) {
    CUBLAS_ENTER(handle);
    if (m < 0 || n < 0 || !incx || !incy || lda < most(1, m) || !alpha)
        return CUBLAS_STATUS_INVALID_VALUE;
    return outer(handle, name, cublas_scalar(handle, alpha, element), m, n, cublas_vector(x, element, m, incx),
                 cublas_vector(y, element, n, incy), conjugates, a, lda, FILL_ALL);
}

/* A += alpha x x'; with y: A += alpha x y' + conj(alpha) y x' */
static cublasStatus_t syr(cublasHandle_t handle, const char *name, bool conjugates, cublasFillMode_t fill, int64_t n,
                          const void *alpha, int scale, int element, const void *x, int64_t incx, const void *y,
                          int64_t incy, void *a, int64_t lda) {
    CUBLAS_ENTER(handle);
    if (!is_fill(fill) || n < 0 || !incx || !incy || lda < most(1, n) || !alpha)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector vx = cublas_vector(x, element, n, incx);
    struct scalar factor = cublas_scalar(handle, alpha, scale);
    if (!y)
        return outer(handle, name, factor, n, n, vx, vx, conjugates, a, lda, (int)fill);
    if (conjugates && factor.at)
        return CUBLAS_REFUSE(name, "alpha in device memory is not supported");
    struct vector vy = cublas_vector(y, element, n, incy);
    cublasStatus_t status = outer(handle, name, factor, n, n, vx, vy, conjugates, a, lda, (int)fill);
    factor.im = conjugates ? -factor.im : factor.im;
    return status != CUBLAS_STATUS_SUCCESS ? status
                                           : outer(handle, name, factor, n, n, vy, vx, conjugates, a, lda, (int)fill);
}

/* ---- The interface ------------------------------------------------------------------------------------------------
 */

#define WITH_SIZES(FUNCTIONS, ...)                                                                                     \
    FUNCTIONS(__VA_ARGS__, int, )                                                                                      \
    FUNCTIONS(__VA_ARGS__, int64_t, _64)

#define TRIANGULAR(S, name, T, number, I, suffix)                                                                      \
    CUBLAS_API(cublas##S##name##_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill,                             \
               cublasOperation_t operation, cublasDiagType_t diagonal, I n, const T *a, I lda, T *x, I incx) {         \
        return name(handle, &(struct triangular){fill, operation, diagonal, n, number, a, lda, x, incx});              \
    }

#define FUNCTIONS(S, T, number, I, suffix)                                                                             \
    CUBLAS_API(cublas##S##gemv_v2##suffix, cublasHandle_t handle, cublasOperation_t operation, I m, I n,               \
               const T *alpha, const T *a, I lda, const T *x, I incx, const T *beta, T *y, I incy) {                   \
        return gemv(handle, &(struct gemv){GEMV_ARGUMENTS(number, number), .a = {a, lda, 0}, .x = {x, incx, 0},        \
                                           .y = {y, incy, 0}, .n_batches = 1});                                        \
    }                                                                                                                  \
    BATCHES(S, T, number, T, number, I, suffix)                                                                        \
    TRIANGULAR(S, trmv, T, number, I, suffix)                                                                          \
    TRIANGULAR(S, trsv, T, number, I, suffix)                                                                          \
    CUBLAS_API(cublas##S##symv_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill, I n, const T *alpha,          \
               const T *a, I lda, const T *x, I incx, const T *beta, T *y, I incy) {                                   \
        return symv(handle, SHAPE_SYMMETRIC, fill, n, alpha, number, a, lda, x, incx, beta, y, incy);                  \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##syr_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill, I n, const T *alpha,           \
               const T *x, I incx, T *a, I lda) {                                                                      \
        return syr(handle, __func__, false, fill, n, alpha, number, number, x, incx, NULL, 1, a, lda);                 \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##syr2_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill, I n, const T *alpha,          \
               const T *x, I incx, const T *y, I incy, T *a, I lda) {                                                  \
        return syr(handle, __func__, false, fill, n, alpha, number, number, x, incx, y, incy, a, lda);                 \
    }
WITH_SIZES(FUNCTIONS, S, float, ELEMENT_F32)
WITH_SIZES(FUNCTIONS, D, double, ELEMENT_F64)
WITH_SIZES(FUNCTIONS, C, cuComplex, ELEMENT_C32)
WITH_SIZES(FUNCTIONS, Z, cuDoubleComplex, ELEMENT_C64)
WITH_SIZES(BATCHES, HSH, __half, ELEMENT_F16, float, ELEMENT_F32)
WITH_SIZES(BATCHES, TST, __nv_bfloat16, ELEMENT_BF16, float, ELEMENT_F32)

#define GER(name, T, number, conjugates, I, suffix)                                                                    \
    CUBLAS_API(cublas##name##_v2##suffix, cublasHandle_t handle, I m, I n, const T *alpha, const T *x, I incx,         \
               const T *y, I incy, T *a, I lda) {                                                                      \
        return ger(handle, __func__, conjugates, m, n, alpha, number, x, incx, y, incy, a, lda);                       \
    }
WITH_SIZES(GER, Sger, float, ELEMENT_F32, false)
WITH_SIZES(GER, Dger, double, ELEMENT_F64, false)
WITH_SIZES(GER, Cgeru, cuComplex, ELEMENT_C32, false)
WITH_SIZES(GER, Cgerc, cuComplex, ELEMENT_C32, true)
WITH_SIZES(GER, Zgeru, cuDoubleComplex, ELEMENT_C64, false)
WITH_SIZES(GER, Zgerc, cuDoubleComplex, ELEMENT_C64, true)

#define HERMITIAN(S, T, number, R, real, I, suffix)                                                                    \
    CUBLAS_API(cublas##S##hemv_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill, I n, const T *alpha,          \
               const T *a, I lda, const T *x, I incx, const T *beta, T *y, I incy) {                                   \
        return symv(handle, SHAPE_HERMITIAN, fill, n, alpha, number, a, lda, x, incx, beta, y, incy);                  \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##her_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill, I n, const R *alpha,           \
               const T *x, I incx, T *a, I lda) {                                                                      \
        return syr(handle, __func__, true, fill, n, alpha, real, number, x, incx, NULL, 1, a, lda);                    \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##her2_v2##suffix, cublasHandle_t handle, cublasFillMode_t fill, I n, const T *alpha,          \
               const T *x, I incx, const T *y, I incy, T *a, I lda) {                                                  \
        return syr(handle, __func__, true, fill, n, alpha, number, number, x, incx, y, incy, a, lda);                  \
    }
WITH_SIZES(HERMITIAN, C, cuComplex, ELEMENT_C32, float, ELEMENT_F32)
WITH_SIZES(HERMITIAN, Z, cuDoubleComplex, ELEMENT_C64, double, ELEMENT_F64)
