/* What sparse.c uses of cuSPARSE: from the toolkit's header where nvcc compiles it, otherwise our declarations. */
#pragma once

#ifdef __NVCC__
#include <cusparse.h>
#else
#include "cusparse/types.h"

#define FUNCTION(name, ...) cusparseStatus_t name(__VA_ARGS__);
FUNCTION(cusparseCreate, cusparseHandle_t *)
FUNCTION(cusparseDestroy, cusparseHandle_t)
FUNCTION(cusparseSetPointerMode, cusparseHandle_t, cusparsePointerMode_t)
FUNCTION(cusparseCreateCsr, cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, void *, void *, void *,
         cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
FUNCTION(cusparseCreateCsc, cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, void *, void *, void *,
         cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
FUNCTION(cusparseCreateCoo, cusparseSpMatDescr_t *, int64_t, int64_t, int64_t, void *, void *, void *,
         cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
FUNCTION(cusparseCreateConstCsr, cusparseConstSpMatDescr_t *, int64_t, int64_t, int64_t, const void *, const void *,
         const void *, cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
FUNCTION(cusparseCreateConstCsc, cusparseConstSpMatDescr_t *, int64_t, int64_t, int64_t, const void *, const void *,
         const void *, cusparseIndexType_t, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
FUNCTION(cusparseCreateConstCoo, cusparseConstSpMatDescr_t *, int64_t, int64_t, int64_t, const void *, const void *,
         const void *, cusparseIndexType_t, cusparseIndexBase_t, cudaDataType)
FUNCTION(cusparseDestroySpMat, cusparseConstSpMatDescr_t)
FUNCTION(cusparseSpMatGetSize, cusparseConstSpMatDescr_t, int64_t *, int64_t *, int64_t *)
FUNCTION(cusparseCsrSetPointers, cusparseSpMatDescr_t, void *, void *, void *)
FUNCTION(cusparseCreateDnVec, cusparseDnVecDescr_t *, int64_t, void *, cudaDataType)
FUNCTION(cusparseCreateConstDnVec, cusparseConstDnVecDescr_t *, int64_t, const void *, cudaDataType)
FUNCTION(cusparseDestroyDnVec, cusparseConstDnVecDescr_t)
FUNCTION(cusparseCreateDnMat, cusparseDnMatDescr_t *, int64_t, int64_t, int64_t, void *, cudaDataType, cusparseOrder_t)
FUNCTION(cusparseCreateConstDnMat, cusparseConstDnMatDescr_t *, int64_t, int64_t, int64_t, const void *, cudaDataType,
         cusparseOrder_t)
FUNCTION(cusparseDestroyDnMat, cusparseConstDnMatDescr_t)
FUNCTION(cusparseSpMV_bufferSize, cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
         cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, size_t *)
FUNCTION(cusparseSpMV, cusparseHandle_t, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
         cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, void *)
FUNCTION(cusparseSpMM_bufferSize, cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t, cudaDataType,
         cusparseSpMMAlg_t, size_t *)
FUNCTION(cusparseSpMM, cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *,
         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t, cudaDataType,
         cusparseSpMMAlg_t, void *)
FUNCTION(cusparseSparseToDense_bufferSize, cusparseHandle_t, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
         cusparseSparseToDenseAlg_t, size_t *)
FUNCTION(cusparseSparseToDense, cusparseHandle_t, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
         cusparseSparseToDenseAlg_t, void *)
FUNCTION(cusparseDenseToSparse_bufferSize, cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
         cusparseDenseToSparseAlg_t, size_t *)
FUNCTION(cusparseDenseToSparse_analysis, cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
         cusparseDenseToSparseAlg_t, void *)
FUNCTION(cusparseDenseToSparse_convert, cusparseHandle_t, cusparseConstDnMatDescr_t, cusparseSpMatDescr_t,
         cusparseDenseToSparseAlg_t, void *)
FUNCTION(cusparseXcoo2csr, cusparseHandle_t, const int *, int, int, int *, cusparseIndexBase_t)
FUNCTION(cusparseXcsr2coo, cusparseHandle_t, const int *, int, int, int *, cusparseIndexBase_t)
#endif
