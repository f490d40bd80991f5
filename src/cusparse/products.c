/* Products and conversions of cuSPARSE. They need no buffers. Every algorithm is the same here. */
#include <stdio.h>

#include "cusparse/internal.h"
#include "cusparse/kernels/sparse.h"
#include "library/library.h"

/* Programs allocate a buffer of the size they are told, and cudaMallocManaged() refuses 0 bytes. */
enum { THREADS = 128, MOST_BLOCKS = 4096, LEAST_BYTES = 8 };

extern const char cusparse_ptx_sparse[];
static struct library_module module = {.ptx = cusparse_ptx_sparse};

static cusparseStatus_t launch(cusparseHandle_t handle, const char *name, cudaDataType type, int64_t n_threads,
                               const void *job) {
    char full[64];
    int64_t blocks = (n_threads + THREADS - 1) / THREADS;
    if (n_threads == 0)
        return CUSPARSE_STATUS_SUCCESS;
    snprintf(full, sizeof full, "sparse_%s_%c", name, type == CUDA_R_64F ? 'd' : 'f');
    CUresult result =
        library_launch(&module, full, (unsigned[]){(unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1},
                       THREADS, handle->stream, job);
    return result == CUDA_SUCCESS ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

/* One kernel without a type of values. */
static cusparseStatus_t launch_plain(cusparseHandle_t handle, const char *name, unsigned threads, int64_t n_threads,
                                     const void *job) {
    int64_t blocks = (n_threads + threads - 1) / threads;
    CUresult result =
        library_launch(&module, name, (unsigned[]){(unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1},
                       threads, handle->stream, job);
    return result == CUDA_SUCCESS ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

static bool is_supported(const char *name, cudaDataType type, cudaDataType other) {
    bool is_right = type == other && (type == CUDA_R_32F || type == CUDA_R_64F);
    if (!is_right)
        library_refuse_case(name, "only single and double precision without mixtures are supported");
    return is_right;
}

static struct sparse_indices indices(const void *base, cusparseIndexType_t type) {
    return (struct sparse_indices){base, type == CUSPARSE_INDEX_64I};
}

static struct sparse_matrix by_lines(cusparseConstSpMatDescr_t matrix) {
    struct sparse_matrix lines = {.place = indices(matrix->place, matrix->place_type),
                                  .value = matrix->value,
                                  .n_lines = matrix->format == CUSPARSE_FORMAT_CSC ? matrix->columns : matrix->rows,
                                  .n_elements = matrix->n_elements,
                                  .first = matrix->first};
    *(matrix->format == CUSPARSE_FORMAT_COO ? &lines.line : &lines.offset) = indices(matrix->line, matrix->line_type);
    return lines;
}

static struct sparse_dense dense_of(cusparseConstDnMatDescr_t matrix, bool is_transposed) {
    bool is_by_rows = (matrix->order == CUSPARSE_ORDER_ROW) != is_transposed;
    return (struct sparse_dense){matrix->value, is_by_rows ? matrix->leading : 1, is_by_rows ? 1 : matrix->leading};
}

/* ---- Products ---- */

static cusparseStatus_t multiply(const char *name, cusparseHandle_t handle, cusparseOperation_t operation,
                                 const void *alpha, const void *beta, cusparseConstSpMatDescr_t matrix,
                                 struct sparse_product *job, cudaDataType type) {
    if (!is_supported(name, matrix->type, type))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (matrix->format != CUSPARSE_FORMAT_CSR && matrix->format != CUSPARSE_FORMAT_CSC &&
        matrix->format != CUSPARSE_FORMAT_COO)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    bool is_transposed = operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
    bool gathers = (matrix->format == CUSPARSE_FORMAT_CSC) == is_transposed;
    job->matrix = by_lines(matrix);
    if (job->n_rows != (is_transposed ? matrix->columns : matrix->rows))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) {
        job->alpha = alpha;
        job->beta = beta;
    } else {
        job->alpha_value = type == CUDA_R_64F ? *(const double *)alpha : (double)*(const float *)alpha;
        job->beta_value = type == CUDA_R_64F ? *(const double *)beta : (double)*(const float *)beta;
    }
    int64_t n_results = job->n_rows * job->n_columns;
    if (gathers)
        return launch(handle, "multiply", type, n_results, job);
    cusparseStatus_t status = launch(handle, "scale", type, n_results, job);
    return status == CUSPARSE_STATUS_SUCCESS
               ? launch(handle, "multiply_add", type, job->matrix.n_lines * job->n_columns, job)
               : status;
}

CUSPARSE_API(cusparseSpMV_bufferSize, cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
             cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX, const void *beta,
             cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg, size_t *bufferSize) {
    (void)opA, (void)alpha, (void)vecX, (void)beta, (void)vecY, (void)computeType, (void)alg;
    if (!handle || !matA || !bufferSize)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bufferSize = LEAST_BYTES;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSpMV_preprocess, cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
             cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX, const void *beta,
             cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg, void *externalBuffer) {
    (void)opA, (void)alpha, (void)vecX, (void)beta, (void)vecY, (void)computeType, (void)alg, (void)externalBuffer;
    return handle && matA ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

CUSPARSE_API(cusparseSpMM_bufferSize, cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
             const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
             cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpMMAlg_t alg, size_t *bufferSize) {
    (void)opA, (void)opB, (void)alpha, (void)matB, (void)beta, (void)matC, (void)computeType, (void)alg;
    if (!handle || !matA || !bufferSize)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bufferSize = LEAST_BYTES;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSpMM_preprocess, cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
             const void *alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
             cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer) {
    (void)opA, (void)opB, (void)alpha, (void)matB, (void)beta, (void)matC, (void)computeType, (void)alg,
        (void)externalBuffer;
    return handle && matA ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}

CUSPARSE_API(cusparseSpMV, cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
             cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX, const void *beta,
             cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t alg, void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    if (!handle || !alpha || !matA || !vecX || !beta || !vecY)
        return CUSPARSE_STATUS_INVALID_VALUE;
    struct sparse_product job = {
        .from = {vecX->value, 1, 0}, .to = {vecY->value, 1, 0}, .n_rows = vecY->size, .n_columns = 1};
    if (!is_supported(__func__, vecX->type, computeType) || !is_supported(__func__, vecY->type, computeType))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return multiply(__func__, handle, opA, alpha, beta, matA, &job, computeType);
}

CUSPARSE_API(cusparseSpMM, cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
             cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
             cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    if (!handle || !alpha || !matA || !matB || !beta || !matC)
        return CUSPARSE_STATUS_INVALID_VALUE;
    struct sparse_product job = {.from = dense_of(matB, opB != CUSPARSE_OPERATION_NON_TRANSPOSE),
                                 .to = dense_of(matC, false),
                                 .n_rows = matC->rows,
                                 .n_columns = matC->columns};
    if (!is_supported(__func__, matB->type, computeType) || !is_supported(__func__, matC->type, computeType))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return multiply(__func__, handle, opA, alpha, beta, matA, &job, computeType);
}

/* ---- Conversions ---- */

CUSPARSE_API(cusparseSparseToDense_bufferSize, cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
             cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg, size_t *bufferSize) {
    (void)alg;
    if (!handle || !matA || !matB || !bufferSize)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bufferSize = LEAST_BYTES;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSparseToDense, cusparseHandle_t handle, cusparseConstSpMatDescr_t matA, cusparseDnMatDescr_t matB,
             cusparseSparseToDenseAlg_t alg, void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    if (!handle || !matA || !matB || !is_supported(__func__, matA->type, matB->type))
        return CUSPARSE_STATUS_INVALID_VALUE;
    bool is_by_columns = matA->format == CUSPARSE_FORMAT_CSC;
    struct sparse_conversion job = {.matrix = by_lines(matA),
                                    .dense = dense_of(matB, is_by_columns),
                                    .n_columns = is_by_columns ? matA->rows : matA->columns};
    return launch(handle, "expand", matA->type, job.matrix.n_lines, &job);
}

CUSPARSE_API(cusparseDenseToSparse_bufferSize, cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
             cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg, size_t *bufferSize) {
    (void)alg;
    if (!handle || !matA || !matB || !bufferSize)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bufferSize = LEAST_BYTES;
    return CUSPARSE_STATUS_SUCCESS;
}

static struct sparse_conversion conversion_of(cusparseConstDnMatDescr_t dense, cusparseConstSpMatDescr_t matrix) {
    bool is_by_columns = matrix->format == CUSPARSE_FORMAT_CSC;
    return (struct sparse_conversion){.matrix = by_lines(matrix),
                                      .dense = dense_of(dense, is_by_columns),
                                      .n_columns = is_by_columns ? matrix->rows : matrix->columns};
}

static bool can_convert(const char *name, cusparseConstDnMatDescr_t dense, cusparseConstSpMatDescr_t matrix) {
    if (matrix->format == CUSPARSE_FORMAT_COO)
        library_refuse_case(name, "only CSR and CSC are supported");
    return matrix->format != CUSPARSE_FORMAT_COO && is_supported(name, dense->type, matrix->type);
}

CUSPARSE_API(cusparseDenseToSparse_analysis, cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
             cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg, void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    if (!handle || !matA || !matB)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (!can_convert(__func__, matA, matB))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    struct sparse_conversion job = conversion_of(matA, matB);
    cusparseStatus_t status = launch(handle, "count", matA->type, job.matrix.n_lines, &job);
    if (status == CUSPARSE_STATUS_SUCCESS)
        status = launch_plain(handle, "sparse_sum", 1, 1, &job);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    int64_t last = 0; /* both sizes of indices: little-endian */
    size_t bytes = job.matrix.offset.is_wide ? 8 : 4;
    if (cuStreamSynchronize(handle->stream) != CUDA_SUCCESS ||
        cuMemcpyDtoH(&last, (CUdeviceptr)(uintptr_t)matB->line + bytes * (size_t)job.matrix.n_lines, bytes) !=
            CUDA_SUCCESS)
        return CUSPARSE_STATUS_EXECUTION_FAILED;
    matB->n_elements = last - matB->first;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseDenseToSparse_convert, cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
             cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg, void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    if (!handle || !matA || !matB)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (!can_convert(__func__, matA, matB))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    struct sparse_conversion job = conversion_of(matA, matB);
    return launch(handle, "compress", matA->type, job.matrix.n_lines, &job);
}

static struct sparse_conversion plain(const int *offsets, const int *lines, int nnz, int m, cusparseIndexBase_t first) {
    return (struct sparse_conversion){
        .matrix = {.offset = {offsets, 0}, .line = {lines, 0}, .n_lines = m, .n_elements = nnz, .first = first}};
}

CUSPARSE_API(cusparseXcoo2csr, cusparseHandle_t handle, const int *cooRowInd, int nnz, int m, int *csrSortedRowPtr,
             cusparseIndexBase_t idxBase) {
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    struct sparse_conversion job = plain(csrSortedRowPtr, cooRowInd, nnz, m, idxBase);
    return launch_plain(handle, "sparse_offsets", THREADS, m + 1, &job);
}

CUSPARSE_API(cusparseXcsr2coo, cusparseHandle_t handle, const int *csrSortedRowPtr, int nnz, int m, int *cooRowInd,
             cusparseIndexBase_t idxBase) {
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    struct sparse_conversion job = plain(csrSortedRowPtr, cooRowInd, nnz, m, idxBase);
    return launch_plain(handle, "sparse_lines", THREADS, m, &job);
}
