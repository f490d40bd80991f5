/* Handles and descriptors of cuSPARSE. */
#include <stdlib.h>

#include "cusparse/internal.h"
#include "library/library.h"

#ifndef CUSPARSE_MAJOR
#define CUSPARSE_MAJOR 12
#endif

/* ---- Handles ---- */

CUSPARSE_API(cusparseCreate, cusparseHandle_t *handle) {
    if (!handle)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (library_start() != CUDA_SUCCESS)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

CUSPARSE_API(cusparseDestroy, cusparseHandle_t handle) {
    free(handle);
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

CUSPARSE_API(cusparseSetStream, cusparseHandle_t handle, cudaStream_t streamId) {
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->stream = (CUstream)streamId;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseGetStream, cusparseHandle_t handle, cudaStream_t *streamId) {
    if (!handle || !streamId)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    *streamId = (cudaStream_t)handle->stream;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSetPointerMode, cusparseHandle_t handle, cusparsePointerMode_t mode) {
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseGetPointerMode, cusparseHandle_t handle, cusparsePointerMode_t *mode) {
    if (!handle || !mode)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    *mode = handle->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseGetVersion, cusparseHandle_t handle, int *version) {
    if (!handle || !version)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    *version = CUSPARSE_MAJOR * 1000;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseGetProperty, libraryPropertyType type, int *value) {
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? CUSPARSE_MAJOR : 0;
    return CUSPARSE_STATUS_SUCCESS;
}

static const char *const names[] = {
    "CUSPARSE_STATUS_SUCCESS",          "CUSPARSE_STATUS_NOT_INITIALIZED", "CUSPARSE_STATUS_ALLOC_FAILED",
    "CUSPARSE_STATUS_INVALID_VALUE",    "CUSPARSE_STATUS_ARCH_MISMATCH",   "CUSPARSE_STATUS_MAPPING_ERROR",
    "CUSPARSE_STATUS_EXECUTION_FAILED", "CUSPARSE_STATUS_INTERNAL_ERROR",  "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
    "CUSPARSE_STATUS_ZERO_PIVOT",       "CUSPARSE_STATUS_NOT_SUPPORTED",   "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
static const char *const texts[] = {"success",
                                    "the library or the handle is not initialised",
                                    "an allocation failed",
                                    "an argument is wrong",
                                    "the device lacks a feature",
                                    "memory cannot be accessed",
                                    "a kernel failed",
                                    "an internal error",
                                    "the type of the matrix is not supported",
                                    "a zero on the diagonal",
                                    "the operation is not supported",
                                    "resources are exhausted"};

CUSPARSE_RETURNS(const char *, cusparseGetErrorName, cusparseStatus_t status) {
    return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "unknown status";
}
CUSPARSE_RETURNS(const char *, cusparseGetErrorString, cusparseStatus_t status) {
    return (unsigned)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}

/* ---- Properties of matrices for the older functions ---- */

struct cusparseMatDescr {
    cusparseMatrixType_t type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseIndexBase_t first;
};

CUSPARSE_API(cusparseCreateMatDescr, cusparseMatDescr_t *descrA) {
    if (!descrA)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *descrA = calloc(1, sizeof **descrA);
    return *descrA ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}
CUSPARSE_API(cusparseDestroyMatDescr, cusparseMatDescr_t descrA) {
    free(descrA);
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_API(cusparseSetMatType, cusparseMatDescr_t descrA, cusparseMatrixType_t type) {
    if (!descrA)
        return CUSPARSE_STATUS_INVALID_VALUE;
    descrA->type = type;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_RETURNS(cusparseMatrixType_t, cusparseGetMatType, const cusparseMatDescr_t descrA) { return descrA->type; }
CUSPARSE_API(cusparseSetMatFillMode, cusparseMatDescr_t descrA, cusparseFillMode_t fillMode) {
    if (!descrA)
        return CUSPARSE_STATUS_INVALID_VALUE;
    descrA->fill = fillMode;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_RETURNS(cusparseFillMode_t, cusparseGetMatFillMode, const cusparseMatDescr_t descrA) { return descrA->fill; }
CUSPARSE_API(cusparseSetMatDiagType, cusparseMatDescr_t descrA, cusparseDiagType_t diagType) {
    if (!descrA)
        return CUSPARSE_STATUS_INVALID_VALUE;
    descrA->diagonal = diagType;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_RETURNS(cusparseDiagType_t, cusparseGetMatDiagType, const cusparseMatDescr_t descrA) {
    return descrA->diagonal;
}
CUSPARSE_API(cusparseSetMatIndexBase, cusparseMatDescr_t descrA, cusparseIndexBase_t base) {
    if (!descrA)
        return CUSPARSE_STATUS_INVALID_VALUE;
    descrA->first = base;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_RETURNS(cusparseIndexBase_t, cusparseGetMatIndexBase, const cusparseMatDescr_t descrA) {
    return descrA->first;
}

/* ---- Sparse matrices ---- */

static cusparseStatus_t create(cusparseSpMatDescr_t *made, struct cusparseSpMatDescr matrix) {
    if (!made || matrix.rows < 0 || matrix.columns < 0 || matrix.n_elements < 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *made = malloc(sizeof **made);
    if (!*made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **made = matrix;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_API(cusparseCreateCsr, cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
             void *csrRowOffsets, void *csrColInd, void *csrValues, cusparseIndexType_t csrRowOffsetsType,
             cusparseIndexType_t csrColIndType, cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return create(spMatDescr, (struct cusparseSpMatDescr){CUSPARSE_FORMAT_CSR,
                                                          rows,
                                                          cols,
                                                          nnz,
                                                          csrRowOffsets,
                                                          csrColInd,
                                                          csrValues,
                                                          csrRowOffsetsType,
                                                          csrColIndType,
                                                          idxBase,
                                                          valueType,
                                                          {0, 0}});
}
CUSPARSE_API(cusparseCreateCsc, cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
             void *cscColOffsets, void *cscRowInd, void *cscValues, cusparseIndexType_t cscColOffsetsType,
             cusparseIndexType_t cscRowIndType, cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return create(spMatDescr, (struct cusparseSpMatDescr){CUSPARSE_FORMAT_CSC,
                                                          rows,
                                                          cols,
                                                          nnz,
                                                          cscColOffsets,
                                                          cscRowInd,
                                                          cscValues,
                                                          cscColOffsetsType,
                                                          cscRowIndType,
                                                          idxBase,
                                                          valueType,
                                                          {0, 0}});
}
CUSPARSE_API(cusparseCreateCoo, cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
             void *cooRowInd, void *cooColInd, void *cooValues, cusparseIndexType_t cooIdxType,
             cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return create(spMatDescr, (struct cusparseSpMatDescr){CUSPARSE_FORMAT_COO,
                                                          rows,
                                                          cols,
                                                          nnz,
                                                          cooRowInd,
                                                          cooColInd,
                                                          cooValues,
                                                          cooIdxType,
                                                          cooIdxType,
                                                          idxBase,
                                                          valueType,
                                                          {0, 0}});
}
CUSPARSE_API(cusparseCreateConstCsr, cusparseConstSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
             const void *csrRowOffsets, const void *csrColInd, const void *csrValues,
             cusparseIndexType_t csrRowOffsetsType, cusparseIndexType_t csrColIndType, cusparseIndexBase_t idxBase,
             cudaDataType valueType) {
    return cusparseCreateCsr((cusparseSpMatDescr_t *)(void *)spMatDescr, rows, cols, nnz,
                             (void *)(uintptr_t)csrRowOffsets, (void *)(uintptr_t)csrColInd,
                             (void *)(uintptr_t)csrValues, csrRowOffsetsType, csrColIndType, idxBase, valueType);
}
CUSPARSE_API(cusparseCreateConstCsc, cusparseConstSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
             const void *cscColOffsets, const void *cscRowInd, const void *cscValues,
             cusparseIndexType_t cscColOffsetsType, cusparseIndexType_t cscRowIndType, cusparseIndexBase_t idxBase,
             cudaDataType valueType) {
    return cusparseCreateCsc((cusparseSpMatDescr_t *)(void *)spMatDescr, rows, cols, nnz,
                             (void *)(uintptr_t)cscColOffsets, (void *)(uintptr_t)cscRowInd,
                             (void *)(uintptr_t)cscValues, cscColOffsetsType, cscRowIndType, idxBase, valueType);
}
CUSPARSE_API(cusparseCreateConstCoo, cusparseConstSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
             const void *cooRowInd, const void *cooColInd, const void *cooValues, cusparseIndexType_t cooIdxType,
             cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return cusparseCreateCoo((cusparseSpMatDescr_t *)(void *)spMatDescr, rows, cols, nnz, (void *)(uintptr_t)cooRowInd,
                             (void *)(uintptr_t)cooColInd, (void *)(uintptr_t)cooValues, cooIdxType, idxBase,
                             valueType);
}

#define DESTROY(name, type)                                                                                            \
    CUSPARSE_API(name, type descriptor) {                                                                              \
        free((void *)(uintptr_t)descriptor);                                                                           \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
DESTROY(cusparseDestroySpMat, cusparseConstSpMatDescr_t)
DESTROY(cusparseDestroyDnVec, cusparseConstDnVecDescr_t)
DESTROY(cusparseDestroyDnMat, cusparseConstDnMatDescr_t)

CUSPARSE_API(cusparseSpMatGetSize, cusparseConstSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz) {
    if (!spMatDescr || !rows || !cols || !nnz)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = spMatDescr->rows;
    *cols = spMatDescr->columns;
    *nnz = spMatDescr->n_elements;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSpMatGetFormat, cusparseConstSpMatDescr_t spMatDescr, cusparseFormat_t *format) {
    if (!spMatDescr || !format)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *format = spMatDescr->format;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSpMatGetIndexBase, cusparseConstSpMatDescr_t spMatDescr, cusparseIndexBase_t *idxBase) {
    if (!spMatDescr || !idxBase)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *idxBase = spMatDescr->first;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSpMatSetAttribute, cusparseSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute, void *data,
             size_t dataSize) {
    if (!spMatDescr || !data || (unsigned)attribute > 1 || dataSize != sizeof(int))
        return CUSPARSE_STATUS_INVALID_VALUE;
    spMatDescr->attribute[attribute] = *(int *)data;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseSpMatGetAttribute, cusparseConstSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute,
             void *data, size_t dataSize) {
    if (!spMatDescr || !data || (unsigned)attribute > 1 || dataSize != sizeof(int))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *(int *)data = spMatDescr->attribute[attribute];
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t set_pointers(cusparseSpMatDescr_t matrix, void *line, void *place, void *value) {
    if (!matrix)
        return CUSPARSE_STATUS_INVALID_VALUE;
    matrix->line = line;
    matrix->place = place;
    matrix->value = value;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_API(cusparseCsrSetPointers, cusparseSpMatDescr_t spMatDescr, void *csrRowOffsets, void *csrColInd,
             void *csrValues) {
    return set_pointers(spMatDescr, csrRowOffsets, csrColInd, csrValues);
}
CUSPARSE_API(cusparseCscSetPointers, cusparseSpMatDescr_t spMatDescr, void *cscColOffsets, void *cscRowInd,
             void *cscValues) {
    return set_pointers(spMatDescr, cscColOffsets, cscRowInd, cscValues);
}
CUSPARSE_API(cusparseCooSetPointers, cusparseSpMatDescr_t spMatDescr, void *cooRows, void *cooColumns,
             void *cooValues) {
    return set_pointers(spMatDescr, cooRows, cooColumns, cooValues);
}

CUSPARSE_API(cusparseCsrGet, cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
             void **csrRowOffsets, void **csrColInd, void **csrValues, cusparseIndexType_t *csrRowOffsetsType,
             cusparseIndexType_t *csrColIndType, cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    cusparseStatus_t status = cusparseSpMatGetSize(spMatDescr, rows, cols, nnz);
    if (status != CUSPARSE_STATUS_SUCCESS || spMatDescr->format != CUSPARSE_FORMAT_CSR)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *csrRowOffsets = spMatDescr->line;
    *csrColInd = spMatDescr->place;
    *csrValues = spMatDescr->value;
    *csrRowOffsetsType = spMatDescr->line_type;
    *csrColIndType = spMatDescr->place_type;
    *idxBase = spMatDescr->first;
    *valueType = spMatDescr->type;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseCooGet, cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols, int64_t *nnz,
             void **cooRowInd, void **cooColInd, void **cooValues, cusparseIndexType_t *idxType,
             cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    cusparseStatus_t status = cusparseSpMatGetSize(spMatDescr, rows, cols, nnz);
    if (status != CUSPARSE_STATUS_SUCCESS || spMatDescr->format != CUSPARSE_FORMAT_COO)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *cooRowInd = spMatDescr->line;
    *cooColInd = spMatDescr->place;
    *cooValues = spMatDescr->value;
    *idxType = spMatDescr->place_type;
    *idxBase = spMatDescr->first;
    *valueType = spMatDescr->type;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- Values of every kind of descriptor ---- */

#define VALUES(kind, variable)                                                                                         \
    CUSPARSE_API(cusparse##kind##SetValues, cusparse##kind##Descr_t variable, void *values) {                          \
        if (!variable)                                                                                                 \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
        variable->value = values;                                                                                      \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    CUSPARSE_API(cusparse##kind##GetValues, cusparse##kind##Descr_t variable, void **values) {                         \
        if (!variable || !values)                                                                                      \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
        *values = variable->value;                                                                                     \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    CUSPARSE_API(cusparseConst##kind##GetValues, cusparseConst##kind##Descr_t variable, const void **values) {         \
        if (!variable || !values)                                                                                      \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
        *values = variable->value;                                                                                     \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
VALUES(SpMat, spMatDescr)
VALUES(DnVec, dnVecDescr)
VALUES(DnMat, dnMatDescr)

/* ---- Dense vectors and matrices ---- */

static cusparseStatus_t create_vector(cusparseDnVecDescr_t *made, struct cusparseDnVecDescr vector) {
    if (!made || vector.size < 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *made = malloc(sizeof **made);
    if (!*made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **made = vector;
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t create_dense(cusparseDnMatDescr_t *made, struct cusparseDnMatDescr matrix) {
    if (!made || matrix.rows < 0 || matrix.columns < 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *made = malloc(sizeof **made);
    if (!*made)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **made = matrix;
    return CUSPARSE_STATUS_SUCCESS;
}
CUSPARSE_API(cusparseCreateDnVec, cusparseDnVecDescr_t *dnVecDescr, int64_t size, void *values,
             cudaDataType valueType) {
    return create_vector(dnVecDescr, (struct cusparseDnVecDescr){size, values, valueType});
}
CUSPARSE_API(cusparseCreateDnMat, cusparseDnMatDescr_t *dnMatDescr, int64_t rows, int64_t cols, int64_t ld,
             void *values, cudaDataType valueType, cusparseOrder_t order) {
    return create_dense(dnMatDescr, (struct cusparseDnMatDescr){rows, cols, ld, values, valueType, order});
}
CUSPARSE_API(cusparseCreateConstDnVec, cusparseConstDnVecDescr_t *dnVecDescr, int64_t size, const void *values,
             cudaDataType valueType) {
    return cusparseCreateDnVec((cusparseDnVecDescr_t *)(void *)dnVecDescr, size, (void *)(uintptr_t)values, valueType);
}
CUSPARSE_API(cusparseCreateConstDnMat, cusparseConstDnMatDescr_t *dnMatDescr, int64_t rows, int64_t cols, int64_t ld,
             const void *values, cudaDataType valueType, cusparseOrder_t order) {
    return cusparseCreateDnMat((cusparseDnMatDescr_t *)(void *)dnMatDescr, rows, cols, ld, (void *)(uintptr_t)values,
                               valueType, order);
}

CUSPARSE_API(cusparseDnVecGet, cusparseDnVecDescr_t dnVecDescr, int64_t *size, void **values, cudaDataType *valueType) {
    if (!dnVecDescr || !size || !values || !valueType)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *size = dnVecDescr->size;
    *values = dnVecDescr->value;
    *valueType = dnVecDescr->type;
    return CUSPARSE_STATUS_SUCCESS;
}

CUSPARSE_API(cusparseDnMatGet, cusparseDnMatDescr_t dnMatDescr, int64_t *rows, int64_t *cols, int64_t *ld,
             void **values, cudaDataType *type, cusparseOrder_t *order) {
    if (!dnMatDescr || !rows || !cols || !ld || !values || !type || !order)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = dnMatDescr->rows;
    *cols = dnMatDescr->columns;
    *ld = dnMatDescr->leading;
    *values = dnMatDescr->value;
    *type = dnMatDescr->type;
    *order = dnMatDescr->order;
    return CUSPARSE_STATUS_SUCCESS;
}
