/* What the programs here use of cuBLAS: from the toolkit's header where nvcc compiles them, otherwise our declarations.
 * They run on Heddle, and, built by nvcc, on a GPU with NVIDIA's library. */
#pragma once

#ifdef __NVCC__
#include <cublas_v2.h>
#else
#include "cublas/types.h"
#include "cuda_runtime_api.h"

/* FUNCTION(name, arguments...) */
#define FUNCTION(name, ...) cublasStatus_t name(__VA_ARGS__);
#define FOR_TYPE(S, T, R, Rs, s)                                                                                       \
    FUNCTION(cublas##S##gemm_v2, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *,       \
             const T *, int, const T *, int, const T *, T *, int)                                                      \
    FUNCTION(cublas##S##gemmBatched, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const T *,   \
             const T *const *, int, const T *const *, int, const T *, T *const *, int, int)                            \
    FUNCTION(cublas##S##gemmStridedBatched, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,       \
             const T *, const T *, int, long long, const T *, int, long long, const T *, T *, int, long long, int)     \
    FUNCTION(cublas##S##axpy_v2, cublasHandle_t, int, const T *, const T *, int, T *, int)                             \
    FUNCTION(cublas##S##scal_v2, cublasHandle_t, int, const T *, T *, int)                                             \
    FUNCTION(cublas##S##copy_v2, cublasHandle_t, int, const T *, int, T *, int)                                        \
    FUNCTION(cublas##S##swap_v2, cublasHandle_t, int, T *, int, T *, int)                                              \
    FUNCTION(cublas##Rs##nrm2_v2, cublasHandle_t, int, const T *, int, R *)                                            \
    FUNCTION(cublas##Rs##asum_v2, cublasHandle_t, int, const T *, int, R *)                                            \
    FUNCTION(cublasI##s##amax_v2, cublasHandle_t, int, const T *, int, int *)                                          \
    FUNCTION(cublasI##s##amin_v2, cublasHandle_t, int, const T *, int, int *)                                          \
    FUNCTION(cublas##S##gemv_v2, cublasHandle_t, cublasOperation_t, int, int, const T *, const T *, int, const T *,    \
             int, const T *, T *, int)                                                                                 \
    FUNCTION(cublas##S##trsm_v2, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,                \
             cublasDiagType_t, int, int, const T *, const T *, int, T *, int)                                          \
    FUNCTION(cublas##S##trmm_v2, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,                \
             cublasDiagType_t, int, int, const T *, const T *, int, const T *, int, T *, int)                          \
    FUNCTION(cublas##S##symm_v2, cublasHandle_t, cublasSideMode_t, cublasFillMode_t, int, int, const T *, const T *,   \
             int, const T *, int, const T *, T *, int)                                                                 \
    FUNCTION(cublas##S##syrk_v2, cublasHandle_t, cublasFillMode_t, cublasOperation_t, int, int, const T *, const T *,  \
             int, const T *, T *, int)                                                                                 \
    FUNCTION(cublas##S##geam, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, const T *, const T *,    \
             int, const T *, const T *, int, T *, int)                                                                 \
    FUNCTION(cublas##S##getrfBatched, cublasHandle_t, int, T *const *, int, int *, int *, int)                         \
    FUNCTION(cublas##S##getrsBatched, cublasHandle_t, cublasOperation_t, int, int, const T *const *, int, const int *, \
             T *const *, int, int *, int)                                                                              \
    FUNCTION(cublas##S##matinvBatched, cublasHandle_t, int, const T *const *, int, T *const *, int, int *, int)        \
    FUNCTION(cublas##S##dgmm, cublasHandle_t, cublasSideMode_t, int, int, const T *, int, const T *, int, T *, int)
FOR_TYPE(S, float, float, S, s)
FOR_TYPE(D, double, double, D, d)
FOR_TYPE(C, cuComplex, float, Sc, c)
FOR_TYPE(Z, cuDoubleComplex, double, Dz, z)
FUNCTION(cublasSdot_v2, cublasHandle_t, int, const float *, int, const float *, int, float *)
FUNCTION(cublasDdot_v2, cublasHandle_t, int, const double *, int, const double *, int, double *)
FUNCTION(cublasZdotc_v2, cublasHandle_t, int, const cuDoubleComplex *, int, const cuDoubleComplex *, int,
         cuDoubleComplex *)
FUNCTION(cublasSrot_v2, cublasHandle_t, int, float *, int, float *, int, const float *, const float *)
FUNCTION(cublasSrotg_v2, cublasHandle_t, float *, float *, float *, float *)
FUNCTION(cublasSger_v2, cublasHandle_t, int, int, const float *, const float *, int, const float *, int, float *, int)
FUNCTION(cublasCreate_v2, cublasHandle_t *)
FUNCTION(cublasDestroy_v2, cublasHandle_t)
FUNCTION(cublasGetVersion_v2, cublasHandle_t, int *)
FUNCTION(cublasGetProperty, libraryPropertyType, int *)
FUNCTION(cublasSetStream_v2, cublasHandle_t, cudaStream_t)
FUNCTION(cublasGetStream_v2, cublasHandle_t, cudaStream_t *)
FUNCTION(cublasSetWorkspace_v2, cublasHandle_t, void *, size_t)
FUNCTION(cublasSetPointerMode_v2, cublasHandle_t, cublasPointerMode_t)
FUNCTION(cublasGetPointerMode_v2, cublasHandle_t, cublasPointerMode_t *)
FUNCTION(cublasSetMathMode, cublasHandle_t, cublasMath_t)
FUNCTION(cublasGetMathMode, cublasHandle_t, cublasMath_t *)
FUNCTION(cublasSetVector, int, int, const void *, int, void *, int)
FUNCTION(cublasGetVector, int, int, const void *, int, void *, int)
FUNCTION(cublasSetMatrix, int, int, int, const void *, int, void *, int)
FUNCTION(cublasGetMatrix, int, int, int, const void *, int, void *, int)
FUNCTION(cublasGemmEx, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *, const void *,
         cudaDataType, int, const void *, cudaDataType, int, const void *, void *, cudaDataType, int,
         cublasComputeType_t, cublasGemmAlgo_t)
FUNCTION(cublasGemmStridedBatchedEx, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
         const void *, cudaDataType, int, long long, const void *, cudaDataType, int, long long, const void *, void *,
         cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t)
FUNCTION(cublasGemmBatchedEx, cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
         const void *const *, cudaDataType, int, const void *const *, cudaDataType, int, const void *, void *const *,
         cudaDataType, int, int, cublasComputeType_t, cublasGemmAlgo_t)
FUNCTION(cublasAxpyEx, cublasHandle_t, int, const void *, cudaDataType, const void *, cudaDataType, int, void *,
         cudaDataType, int, cudaDataType)
FUNCTION(cublasStbmv_v2, cublasHandle_t)
const char *cublasGetStatusName(cublasStatus_t);

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#endif
