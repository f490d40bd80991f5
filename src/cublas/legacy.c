/* The cuBLAS interface before version 2 (cublas.h): no handles, scalars passed by value, results returned, letters for
 * operations. It covers S and D, and the most common functions in C and Z. Each function calls its current equivalent
 * with a handle of the process. */
#undef HEDDLE_TOOLKIT_HEADERS /* the toolkit's two headers exclude each other */
#include "cublas/core/core.h"

static struct cublasContext *handle;
static cublasStatus_t first_error;

/* The handle, made by the first call. */
static struct cublasContext *own(void) {
    if (!handle && cublas_new(&handle) != CUBLAS_STATUS_SUCCESS)
        handle = NULL;
    return handle;
}

static void note(cublasStatus_t status) {
    if (first_error == CUBLAS_STATUS_SUCCESS)
        first_error = status;
}

static bool is_letter(char given, char letter) { return given == letter || given == letter + ('a' - 'A'); }
static cublasOperation_t operation(char c) {
    return is_letter(c, 'N')   ? CUBLAS_OP_N
           : is_letter(c, 'T') ? CUBLAS_OP_T
           : is_letter(c, 'C') ? CUBLAS_OP_C
                               : (cublasOperation_t)-1;
}
static cublasFillMode_t fill(char c) {
    return is_letter(c, 'L')   ? CUBLAS_FILL_MODE_LOWER
           : is_letter(c, 'U') ? CUBLAS_FILL_MODE_UPPER
                               : (cublasFillMode_t)-1;
}
static cublasSideMode_t side(char c) {
    return is_letter(c, 'L') ? CUBLAS_SIDE_LEFT : is_letter(c, 'R') ? CUBLAS_SIDE_RIGHT : (cublasSideMode_t)-1;
}
static cublasDiagType_t diagonal(char c) {
    return is_letter(c, 'N') ? CUBLAS_DIAG_NON_UNIT : is_letter(c, 'U') ? CUBLAS_DIAG_UNIT : (cublasDiagType_t)-1;
}

/* ---- The library ---------------------------------------------------------------------------------------------------
 */

CUBLAS_API(cublasInit, void) { return own() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED; }

CUBLAS_API(cublasShutdown, void) {
    cublasStatus_t status = handle ? cublas_delete(handle) : CUBLAS_STATUS_NOT_INITIALIZED;
    handle = NULL;
    return status;
}

CUBLAS_API(cublasGetError, void) {
    cublasStatus_t status = first_error;
    first_error = CUBLAS_STATUS_SUCCESS;
    return status;
}

CUBLAS_API(cublasGetVersion, int *version) {
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = cublas_version();
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasAlloc, int n, int bytes, void **memory) {
    CUdeviceptr device;
    if (n <= 0 || bytes <= 0 || !memory)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!own())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cublasStatus_t status = cublas_status(cuMemAlloc(&device, (size_t)n * (size_t)bytes));
    if (status == CUBLAS_STATUS_SUCCESS)
        *memory = (void *)(uintptr_t)device;
    return status;
}

CUBLAS_API(cublasFree, void *memory) {
    return cuMemFree((CUdeviceptr)(uintptr_t)memory) == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS
                                                                     : CUBLAS_STATUS_INTERNAL_ERROR;
}

CUBLAS_API(cublasSetKernelStream, cudaStream_t stream) {
    if (!own())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Functions ------------------------------------------------------------------------------------------------------
 */

/* Declares the function of version 2 that the next one calls. */
#define TODAY(name, ...) cublasStatus_t cublas##name##_v2(cublasHandle_t, __VA_ARGS__);
#define OLD(name, ...) CUBLAS_FUNCTION(void, cublas##name, __VA_ARGS__)

/* A function with a result. */
#define RESULT(name, R, T)                                                                                             \
    TODAY(name, int, const T *, int, R *)                                                                              \
    CUBLAS_FUNCTION(R, cublas##name, int n, const T *x, int incx) {                                                    \
        R result = 0;                                                                                                  \
        note(cublas##name##_v2(own(), n, x, incx, &result));                                                           \
        return result;                                                                                                 \
    }

#define COMMON(S, T)                                                                                                   \
    TODAY(S##axpy, int, const T *, const T *, int, T *, int)                                                           \
    OLD(S##axpy, int n, T alpha, const T *x, int incx, T *y, int incy) {                                               \
        note(cublas##S##axpy_v2(own(), n, &alpha, x, incx, y, incy));                                                  \
    }                                                                                                                  \
    TODAY(S##scal, int, const T *, T *, int)                                                                           \
    OLD(S##scal, int n, T alpha, T *x, int incx) { note(cublas##S##scal_v2(own(), n, &alpha, x, incx)); }              \
    TODAY(S##copy, int, const T *, int, T *, int)                                                                      \
    OLD(S##copy, int n, const T *x, int incx, T *y, int incy) {                                                        \
        note(cublas##S##copy_v2(own(), n, x, incx, y, incy));                                                          \
    }                                                                                                                  \
    TODAY(S##swap, int, T *, int, T *, int)                                                                            \
    OLD(S##swap, int n, T *x, int incx, T *y, int incy) { note(cublas##S##swap_v2(own(), n, x, incx, y, incy)); }      \
    TODAY(S##gemv, cublasOperation_t, int, int, const T *, const T *, int, const T *, int, const T *, T *, int)        \
    OLD(S##gemv, char trans, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y,           \
        int incy) {                                                                                                    \
        note(cublas##S##gemv_v2(own(), operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy));              \
    }                                                                                                                  \
    TODAY(S##gemm, cublasOperation_t, cublasOperation_t, int, int, int, const T *, const T *, int, const T *, int,     \
          const T *, T *, int)                                                                                         \
    OLD(S##gemm, char op_a, char op_b, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, \
        T *c, int ldc) {                                                                                               \
        note(cublas##S##gemm_v2(own(), operation(op_a), operation(op_b), m, n, k, &alpha, a, lda, b, ldb, &beta, c,    \
                                ldc));                                                                                 \
    }                                                                                                                  \
    TODAY(S##trsm, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int, int, const T *,       \
          const T *, int, T *, int)                                                                                    \
    OLD(S##trsm, char left, char uplo, char trans, char diag, int m, int n, T alpha, const T *a, int lda, T *b,        \
        int ldb) {                                                                                                     \
        note(cublas##S##trsm_v2(own(), side(left), fill(uplo), operation(trans), diagonal(diag), m, n, &alpha, a, lda, \
                                b, ldb));                                                                              \
    }                                                                                                                  \
    TODAY(S##trmm, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int, int, const T *,       \
          const T *, int, const T *, int, T *, int)                                                                    \
    OLD(S##trmm, char left, char uplo, char trans, char diag, int m, int n, T alpha, const T *a, int lda, T *b,        \
        int ldb) {                                                                                                     \
        note(cublas##S##trmm_v2(own(), side(left), fill(uplo), operation(trans), diagonal(diag), m, n, &alpha, a, lda, \
                                b, ldb, b, ldb));                                                                      \
    }                                                                                                                  \
    TODAY(S##symm, cublasSideMode_t, cublasFillMode_t, int, int, const T *, const T *, int, const T *, int, const T *, \
          T *, int)                                                                                                    \
    OLD(S##symm, char left, char uplo, int m, int n, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c,  \
        int ldc) {                                                                                                     \
        note(cublas##S##symm_v2(own(), side(left), fill(uplo), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc));          \
    }                                                                                                                  \
    TODAY(S##syrk, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *, int, const T *, T *, int)      \
    OLD(S##syrk, char uplo, char trans, int n, int k, T alpha, const T *a, int lda, T beta, T *c, int ldc) {           \
        note(cublas##S##syrk_v2(own(), fill(uplo), operation(trans), n, k, &alpha, a, lda, &beta, c, ldc));            \
    }                                                                                                                  \
    TODAY(S##syr2k, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *, int, const T *, int,          \
          const T *, T *, int)                                                                                         \
    OLD(S##syr2k, char uplo, char trans, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta,      \
        T *c, int ldc) {                                                                                               \
        note(cublas##S##syr2k_v2(own(), fill(uplo), operation(trans), n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));   \
    }                                                                                                                  \
    TODAY(S##trsv, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int, const T *, int, T *, int)               \
    OLD(S##trsv, char uplo, char trans, char diag, int n, const T *a, int lda, T *x, int incx) {                       \
        note(cublas##S##trsv_v2(own(), fill(uplo), operation(trans), diagonal(diag), n, a, lda, x, incx));             \
    }                                                                                                                  \
    TODAY(S##trmv, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int, const T *, int, T *, int)               \
    OLD(S##trmv, char uplo, char trans, char diag, int n, const T *a, int lda, T *x, int incx) {                       \
        note(cublas##S##trmv_v2(own(), fill(uplo), operation(trans), diagonal(diag), n, a, lda, x, incx));             \
    }
COMMON(S, float)
COMMON(D, double)
COMMON(C, cuComplex)
COMMON(Z, cuDoubleComplex)

#define REAL(S, T)                                                                                                     \
    RESULT(S##nrm2, T, T)                                                                                              \
    RESULT(S##asum, T, T)                                                                                              \
    TODAY(S##dot, int, const T *, int, const T *, int, T *)                                                            \
    CUBLAS_FUNCTION(T, cublas##S##dot, int n, const T *x, int incx, const T *y, int incy) {                            \
        T result = 0;                                                                                                  \
        note(cublas##S##dot_v2(own(), n, x, incx, y, incy, &result));                                                  \
        return result;                                                                                                 \
    }                                                                                                                  \
    TODAY(S##rot, int, T *, int, T *, int, const T *, const T *)                                                       \
    OLD(S##rot, int n, T *x, int incx, T *y, int incy, T c, T s) {                                                     \
        note(cublas##S##rot_v2(own(), n, x, incx, y, incy, &c, &s));                                                   \
    }                                                                                                                  \
    TODAY(S##ger, int, int, const T *, const T *, int, const T *, int, T *, int)                                       \
    OLD(S##ger, int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {                    \
        note(cublas##S##ger_v2(own(), m, n, &alpha, x, incx, y, incy, a, lda));                                        \
    }                                                                                                                  \
    TODAY(S##symv, cublasFillMode_t, int, const T *, const T *, int, const T *, int, const T *, T *, int)              \
    OLD(S##symv, char uplo, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {       \
        note(cublas##S##symv_v2(own(), fill(uplo), n, &alpha, a, lda, x, incx, &beta, y, incy));                       \
    }                                                                                                                  \
    TODAY(S##syr, cublasFillMode_t, int, const T *, const T *, int, T *, int)                                          \
    OLD(S##syr, char uplo, int n, T alpha, const T *x, int incx, T *a, int lda) {                                      \
        note(cublas##S##syr_v2(own(), fill(uplo), n, &alpha, x, incx, a, lda));                                        \
    }                                                                                                                  \
    TODAY(S##syr2, cublasFillMode_t, int, const T *, const T *, int, const T *, int, T *, int)                         \
    OLD(S##syr2, char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {               \
        note(cublas##S##syr2_v2(own(), fill(uplo), n, &alpha, x, incx, y, incy, a, lda));                              \
    }
REAL(S, float)
REAL(D, double)

RESULT(Isamax, int, float)
RESULT(Isamin, int, float)
RESULT(Idamax, int, double)
RESULT(Idamin, int, double)
RESULT(Icamax, int, cuComplex)
RESULT(Icamin, int, cuComplex)
RESULT(Izamax, int, cuDoubleComplex)
RESULT(Izamin, int, cuDoubleComplex)
RESULT(Scnrm2, float, cuComplex)
RESULT(Scasum, float, cuComplex)
RESULT(Dznrm2, double, cuDoubleComplex)
RESULT(Dzasum, double, cuDoubleComplex)
