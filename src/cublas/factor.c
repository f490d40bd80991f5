/* cuBLAS: factorizations, solutions and inverses of batches of small matrices. */
#include "cublas/core/core.h"

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static struct matrix batch(const void *array, int element, int64_t ld) {
    return cublas_batch(cublas_matrix(NULL, element, ld), array, 0);
}

static cublasStatus_t launch(cublasHandle_t handle, const char *operation, const struct factors *job) {
    if (!job->n || !job->n_batches)
        return CUBLAS_STATUS_SUCCESS;
    return cublas_launch(handle, CUBLAS_FACTOR, operation, job->a.type, (const long long[]){job->n_batches, 1, 1}, 128,
                         job);
}

static cublasStatus_t getrf(cublasHandle_t handle, int element, int64_t n, const void *a, int64_t lda, int *pivots,
                            int *info, int64_t n_batches) {
    CUBLAS_ENTER(handle);
    if (n < 0 || n_batches < 0 || lda < most(1, n))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct factors job = {.a = batch(a, element, lda), .pivots = pivots, .info = info, .n = n, .n_batches = n_batches};
    return launch(handle, "factor", &job);
}

/* The status of the arguments is for the host. */
static cublasStatus_t getrs(cublasHandle_t handle, int element, cublasOperation_t operation, int64_t n, int64_t n_right,
                            const void *a, int64_t lda, const int *pivots, const void *b, int64_t ldb, int *info,
                            int64_t n_batches) {
    CUBLAS_ENTER(handle);
    if (!info)
        return CUBLAS_STATUS_INVALID_VALUE;
    bool is_wrong[] = {!cublas_is_operation(operation),
                       n < 0,
                       n_right < 0,
                       !a,
                       lda < most(1, n),
                       false,
                       !b,
                       ldb < most(1, n),
                       false,
                       n_batches < 0};
    *info = 0;
    for (int i = 9; i >= 0; i--)
        *info = is_wrong[i] ? -(i + 1) : *info;
    if (*info)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct factors job = {.a = batch(a, element, lda),
                          .b = batch(b, element, ldb),
                          .pivots = (int *)(uintptr_t)pivots,
                          .n = n,
                          .n_right = n_right,
                          .n_batches = n_batches,
                          .is_transposed = operation != CUBLAS_OP_N,
                          .is_conjugated = operation == CUBLAS_OP_C};
    return launch(handle, "solve_factored", &job);
}

static cublasStatus_t getri(cublasHandle_t handle, int element, int64_t n, const void *a, int64_t lda,
                            const int *pivots, const void *c, int64_t ldc, int *info, int64_t n_batches) {
    CUBLAS_ENTER(handle);
    if (n < 0 || n_batches < 0 || lda < most(1, n) || ldc < most(1, n))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct factors job = {.a = batch(a, element, lda),
                          .b = batch(c, element, ldc),
                          .pivots = (int *)(uintptr_t)pivots,
                          .info = info,
                          .n = n,
                          .n_right = n,
                          .n_batches = n_batches,
                          .is_inverse = 1};
    return launch(handle, "solve_factored", &job);
}

/* Factors a copy, because A must not change. */
static cublasStatus_t matinv(cublasHandle_t handle, int element, int64_t n, const void *a, int64_t lda,
                             const void *inverse, int64_t ld_inverse, int *info, int64_t n_batches) {
    CUBLAS_ENTER(handle);
    if (n < 0 || n > 32 || n_batches < 0 || lda < most(1, n) || ld_inverse < most(1, n))
        return CUBLAS_STATUS_INVALID_VALUE;
    size_t bytes = (size_t)(n * n * n_batches) * cublas_element_bytes(element);
    char *scratch = cublas_scratch(handle, bytes + (size_t)(n * n_batches) * sizeof(int) + 16);
    if (!scratch)
        return CUBLAS_STATUS_ALLOC_FAILED;
    struct factors job = {.source = batch(a, element, lda),
                          .b = batch(inverse, element, ld_inverse),
                          .pivots = (int *)(void *)(scratch + bytes),
                          .info = info,
                          .n = n,
                          .n_right = n,
                          .n_batches = n_batches,
                          .is_inverse = 1};
    job.a = cublas_batch(cublas_matrix(scratch, element, n), NULL, n * n);
    cublasStatus_t status = launch(handle, "factor", &job);
    return status != CUBLAS_STATUS_SUCCESS ? status : launch(handle, "solve_factored", &job);
}

#define FUNCTIONS(S, T, element)                                                                                       \
    CUBLAS_API(cublas##S##getrfBatched, cublasHandle_t handle, int n, T *const a[], int lda, int *pivots, int *info,   \
               int n_batches) {                                                                                        \
        return getrf(handle, element, n, a, lda, pivots, info, n_batches);                                             \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##getrsBatched, cublasHandle_t handle, cublasOperation_t operation, int n, int n_right,        \
               const T *const a[], int lda, const int *pivots, T *const b[], int ldb, int *info, int n_batches) {      \
        return getrs(handle, element, operation, n, n_right, a, lda, pivots, b, ldb, info, n_batches);                 \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##getriBatched, cublasHandle_t handle, int n, const T *const a[], int lda, const int *pivots,  \
               T *const c[], int ldc, int *info, int n_batches) {                                                      \
        return getri(handle, element, n, a, lda, pivots, c, ldc, info, n_batches);                                     \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##matinvBatched, cublasHandle_t handle, int n, const T *const a[], int lda,                    \
               T *const inverse[], int ld_inverse, int *info, int n_batches) {                                         \
        return matinv(handle, element, n, a, lda, inverse, ld_inverse, info, n_batches);                               \
    }
FUNCTIONS(S, float, ELEMENT_F32)
FUNCTIONS(D, double, ELEMENT_F64)
FUNCTIONS(C, cuComplex, ELEMENT_C32)
FUNCTIONS(Z, cuDoubleComplex, ELEMENT_C64)
