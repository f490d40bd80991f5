/* cuBLAS: matrix products of plain matrices, alone and in batches. */
#include "cublas/core/core.h"

/* The arguments that all of them have. `batch` tells how the matrices of a batch are found. */
struct gemm {
    const char *name;
    cublasOperation_t op_a, op_b;
    int64_t m, n, k;
    const void *alpha, *beta;
    int scale, compute;
    struct {
        const void *at; /* the matrix, or an array of matrices */
        int type;
        int64_t ld;
        long long stride;
    } a, b, c;
    int64_t n_batches;
    bool has_arrays;
};

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static bool is_valid(const struct gemm *g) {
    int64_t a_rows = g->op_a == CUBLAS_OP_N ? g->m : g->k, b_rows = g->op_b == CUBLAS_OP_N ? g->k : g->n;
    return cublas_is_operation(g->op_a) && cublas_is_operation(g->op_b) && g->m >= 0 && g->n >= 0 && g->k >= 0 &&
           g->a.ld >= most(1, a_rows) && g->b.ld >= most(1, b_rows) && g->c.ld >= most(1, g->m) && g->n_batches >= 0 &&
           g->alpha && g->beta;
}

static cublasStatus_t gemm(cublasHandle_t handle, const struct gemm *g) {
    CUBLAS_ENTER(handle);
    if (!is_valid(g))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct product p = {.m = g->m, .n = g->n, .k = g->k, .n_batches = g->n_batches, .fill = FILL_ALL};
    p.a = cublas_operand(g->a.at, g->a.type, g->a.ld, g->op_a);
    p.b = cublas_operand(g->b.at, g->b.type, g->b.ld, g->op_b);
    p.c = cublas_matrix(g->c.at, g->c.type, g->c.ld);
    p.a = cublas_batch(p.a, g->has_arrays ? g->a.at : NULL, g->a.stride);
    p.b = cublas_batch(p.b, g->has_arrays ? g->b.at : NULL, g->b.stride);
    p.c = cublas_batch(p.c, g->has_arrays ? g->c.at : NULL, g->c.stride);
    p.d = p.c;
    p.alpha = cublas_scalar(handle, g->alpha, g->scale);
    p.beta = cublas_scalar(handle, g->beta, g->scale);
    return cublas_product(handle, g->name, &p, g->compute);
}

/* ---- One type ---------------------------------------------------------------------------------------------------- */

#define GEMM_ARGUMENTS                                                                                                 \
    .name = __func__, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta

#define FUNCTIONS(S, T, element, family, version, I, suffix)                                                           \
    CUBLAS_API(cublas##S##gemm##version##suffix, cublasHandle_t handle, cublasOperation_t op_a,                        \
               cublasOperation_t op_b, I m, I n, I k, const T *alpha, const T *a, I lda, const T *b, I ldb,            \
               const T *beta, T *c, I ldc) {                                                                           \
        return gemm(handle,                                                                                            \
                    &(struct gemm){GEMM_ARGUMENTS, .scale = element, .compute = family, .a = {a, element, lda, 0},     \
                                   .b = {b, element, ldb, 0}, .c = {c, element, ldc, 0}, .n_batches = 1});             \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##gemmBatched##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,  \
               I m, I n, I k, const T *alpha, const T *const a[], I lda, const T *const b[], I ldb, const T *beta,     \
               T *const c[], I ldc, I n_batches) {                                                                     \
        return gemm(handle, &(struct gemm){GEMM_ARGUMENTS, .scale = element, .compute = family,                        \
                                           .a = {a, element, lda, 0}, .b = {b, element, ldb, 0},                       \
                                           .c = {c, element, ldc, 0}, .n_batches = n_batches, .has_arrays = true});    \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##gemmStridedBatched##suffix, cublasHandle_t handle, cublasOperation_t op_a,                   \
               cublasOperation_t op_b, I m, I n, I k, const T *alpha, const T *a, I lda, long long stride_a,           \
               const T *b, I ldb, long long stride_b, const T *beta, T *c, I ldc, long long stride_c, I n_batches) {   \
        return gemm(handle, &(struct gemm){GEMM_ARGUMENTS, .scale = element, .compute = family,                        \
                                           .a = {a, element, lda, stride_a}, .b = {b, element, ldb, stride_b},         \
                                           .c = {c, element, ldc, stride_c}, .n_batches = n_batches});                 \
    }
#define WITH_SIZES(...)                                                                                                \
    FUNCTIONS(__VA_ARGS__, int, )                                                                                      \
    FUNCTIONS(__VA_ARGS__, int64_t, _64)
WITH_SIZES(S, float, ELEMENT_F32, CUBLAS_COMPUTE_32F, _v2)
WITH_SIZES(D, double, ELEMENT_F64, CUBLAS_COMPUTE_64F, _v2)
WITH_SIZES(C, cuComplex, ELEMENT_C32, CUBLAS_COMPUTE_32F, _v2)
WITH_SIZES(Z, cuDoubleComplex, ELEMENT_C64, CUBLAS_COMPUTE_64F, _v2)
WITH_SIZES(H, __half, ELEMENT_F16, CUBLAS_COMPUTE_16F, )

/* ---- Types as arguments ------------------------------------------------------------------------------------------ */

/* Programs of CUDA 10 pass a cudaDataType as the compute type. */
static int compute_of(int type) {
    switch (type) {
    case CUDA_R_32F:
    case CUDA_C_32F:
        return CUBLAS_COMPUTE_32F;
    case CUDA_R_64F:
    case CUDA_C_64F:
        return CUBLAS_COMPUTE_64F;
    case CUDA_R_16F:
        return CUBLAS_COMPUTE_16F;
    case CUDA_R_32I:
        return CUBLAS_COMPUTE_32I;
    default:
        return type;
    }
}

/* alpha and beta have the compute type, complex for complex matrices. */
static int scale_of(int compute, int type) {
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return ELEMENT_F16;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return ELEMENT_I32;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return type == ELEMENT_C64 ? ELEMENT_C64 : ELEMENT_F64;
    default:
        return type == ELEMENT_C32 ? ELEMENT_C32 : ELEMENT_F32;
    }
}

#define EX_ARGUMENTS                                                                                                   \
    GEMM_ARGUMENTS, .scale = scale_of(compute_of((int)compute), (int)a_type), .compute = compute_of((int)compute)

#define EX_FUNCTIONS(I, suffix)                                                                                        \
    CUBLAS_API(cublasGemmEx##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n,  \
               I k, const void *alpha, const void *a, cudaDataType a_type, I lda, const void *b, cudaDataType b_type,  \
               I ldb, const void *beta, void *c, cudaDataType c_type, I ldc, cublasComputeType_t compute,              \
               cublasGemmAlgo_t algorithm) {                                                                           \
        (void)algorithm;                                                                                               \
        return gemm(handle, &(struct gemm){EX_ARGUMENTS, .a = {a, (int)a_type, lda, 0}, .b = {b, (int)b_type, ldb, 0}, \
                                           .c = {c, (int)c_type, ldc, 0}, .n_batches = 1});                            \
    }                                                                                                                  \
    CUBLAS_API(cublasGemmBatchedEx##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,     \
               I m, I n, I k, const void *alpha, const void *const a[], cudaDataType a_type, I lda,                    \
               const void *const b[], cudaDataType b_type, I ldb, const void *beta, void *const c[],                   \
               cudaDataType c_type, I ldc, I n_batches, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {     \
        (void)algorithm;                                                                                               \
        return gemm(handle,                                                                                            \
                    &(struct gemm){EX_ARGUMENTS, .a = {a, (int)a_type, lda, 0}, .b = {b, (int)b_type, ldb, 0},         \
                                   .c = {c, (int)c_type, ldc, 0}, .n_batches = n_batches, .has_arrays = true});        \
    }                                                                                                                  \
    CUBLAS_API(cublasGemmStridedBatchedEx##suffix, cublasHandle_t handle, cublasOperation_t op_a,                      \
               cublasOperation_t op_b, I m, I n, I k, const void *alpha, const void *a, cudaDataType a_type, I lda,    \
               long long stride_a, const void *b, cudaDataType b_type, I ldb, long long stride_b, const void *beta,    \
               void *c, cudaDataType c_type, I ldc, long long stride_c, I n_batches, cublasComputeType_t compute,      \
               cublasGemmAlgo_t algorithm) {                                                                           \
        (void)algorithm;                                                                                               \
        return gemm(handle, &(struct gemm){EX_ARGUMENTS, .a = {a, (int)a_type, lda, stride_a},                         \
                                           .b = {b, (int)b_type, ldb, stride_b}, .c = {c, (int)c_type, ldc, stride_c}, \
                                           .n_batches = n_batches});                                                   \
    }                                                                                                                  \
    CUBLAS_API(cublasSgemmEx##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, \
               I k, const float *alpha, const void *a, cudaDataType a_type, I lda, const void *b, cudaDataType b_type, \
               I ldb, const float *beta, void *c, cudaDataType c_type, I ldc) {                                        \
        return gemm(handle, &(struct gemm){GEMM_ARGUMENTS, .scale = ELEMENT_F32, .compute = CUBLAS_COMPUTE_32F,        \
                                           .a = {a, (int)a_type, lda, 0}, .b = {b, (int)b_type, ldb, 0},               \
                                           .c = {c, (int)c_type, ldc, 0}, .n_batches = 1});                            \
    }                                                                                                                  \
    CUBLAS_API(cublasCgemmEx##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, \
               I k, const cuComplex *alpha, const void *a, cudaDataType a_type, I lda, const void *b,                  \
               cudaDataType b_type, I ldb, const cuComplex *beta, void *c, cudaDataType c_type, I ldc) {               \
        return gemm(handle, &(struct gemm){GEMM_ARGUMENTS, .scale = ELEMENT_C32, .compute = CUBLAS_COMPUTE_32F,        \
                                           .a = {a, (int)a_type, lda, 0}, .b = {b, (int)b_type, ldb, 0},               \
                                           .c = {c, (int)c_type, ldc, 0}, .n_batches = 1});                            \
    }
EX_FUNCTIONS(int, )
EX_FUNCTIONS(int64_t, _64)

/* ---- Complex products by three real ones: here the same ------------------------------------------------------------
 */

#define GEMM3M(S, T, element, family, I, suffix)                                                                       \
    CUBLAS_API(cublas##S##gemm3m##suffix, cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m,  \
               I n, I k, const T *alpha, const T *a, I lda, const T *b, I ldb, const T *beta, T *c, I ldc) {           \
        return gemm(handle,                                                                                            \
                    &(struct gemm){GEMM_ARGUMENTS, .scale = element, .compute = family, .a = {a, element, lda, 0},     \
                                   .b = {b, element, ldb, 0}, .c = {c, element, ldc, 0}, .n_batches = 1});             \
    }
GEMM3M(C, cuComplex, ELEMENT_C32, CUBLAS_COMPUTE_32F, int, )
GEMM3M(C, cuComplex, ELEMENT_C32, CUBLAS_COMPUTE_32F, int64_t, _64)
GEMM3M(Z, cuDoubleComplex, ELEMENT_C64, CUBLAS_COMPUTE_64F, int, )
GEMM3M(Z, cuDoubleComplex, ELEMENT_C64, CUBLAS_COMPUTE_64F, int64_t, _64)

/* ---- Groups of batches: sizes and scalars of each group are on the host, pointers on the device -------------------
 */

#define GROUPS(function, T, types, I, suffix)                                                                          \
    CUBLAS_API(cublas##function##suffix, cublasHandle_t handle, const cublasOperation_t op_a[],                        \
               const cublasOperation_t op_b[], const I m[], const I n[], const I k[], const T alpha[],                 \
               const T *const a[], const I lda[], const T *const b[], const I ldb[], const T beta[], T *const c[],     \
               const I ldc[], I n_groups, const I sizes[]) {                                                           \
        CUBLAS_ENTER(handle);                                                                                          \
        cublasStatus_t status = n_groups < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;                    \
        int64_t first = 0;                                                                                             \
        for (int64_t i = 0; i < n_groups && status == CUBLAS_STATUS_SUCCESS; first += sizes[i++])                      \
            status = gemm(handle, &(struct gemm){.name = __func__,                                                     \
                                                 .op_a = op_a[i],                                                      \
                                                 .op_b = op_b[i],                                                      \
                                                 .m = m[i],                                                            \
                                                 .n = n[i],                                                            \
                                                 .k = k[i],                                                            \
                                                 .alpha = &alpha[i],                                                   \
                                                 .beta = &beta[i],                                                     \
                                                 .scale = types,                                                       \
                                                 .compute = scale_family(types),                                       \
                                                 .a = {a + first, types, lda[i], 0},                                   \
                                                 .b = {b + first, types, ldb[i], 0},                                   \
                                                 .c = {c + first, types, ldc[i], 0},                                   \
                                                 .n_batches = sizes[i],                                                \
                                                 .has_arrays = true});                                                 \
        return status;                                                                                                 \
    }

static int scale_family(int type) { return type == ELEMENT_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F; }

GROUPS(SgemmGroupedBatched, float, ELEMENT_F32, int, )
GROUPS(SgemmGroupedBatched, float, ELEMENT_F32, int64_t, _64)
GROUPS(DgemmGroupedBatched, double, ELEMENT_F64, int, )
GROUPS(DgemmGroupedBatched, double, ELEMENT_F64, int64_t, _64)
