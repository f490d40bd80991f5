/* cublasLt: handles, versions, settings of the process. */
#include "cublas/lt/light.h"

CUBLAS_API(cublasLtCreate, cublasLtHandle_t *handle) { return cublas_new((struct cublasContext **)handle); }
CUBLAS_API(cublasLtDestroy, cublasLtHandle_t handle) { return cublas_delete((struct cublasContext *)handle); }

CUBLAS_FUNCTION(size_t, cublasLtGetVersion, void) { return (size_t)cublas_version(); }
CUBLAS_FUNCTION(size_t, cublasLtGetCudartVersion, void) { return (size_t)cublas_major * 1000; }
CUBLAS_API(cublasLtGetProperty, libraryPropertyType type, int *value) { return cublas_property((int)type, value); }
CUBLAS_FUNCTION(const char *, cublasLtGetStatusName, cublasStatus_t status) { return cublas_status_name(status); }
CUBLAS_FUNCTION(const char *, cublasLtGetStatusString, cublasStatus_t status) { return cublas_status_text(status); }
CUBLAS_FUNCTION(unsigned, cublasLtDisableCpuInstructionsSetMask, unsigned mask) {
    (void)mask;
    return 0;
}

/* Nothing is cached or logged. */
static size_t cache_capacity;

CUBLAS_API(cublasLtHeuristicsCacheGetCapacity, size_t *capacity) {
    if (!capacity)
        return CUBLAS_STATUS_INVALID_VALUE;
    *capacity = cache_capacity;
    return CUBLAS_STATUS_SUCCESS;
}
CUBLAS_API(cublasLtHeuristicsCacheSetCapacity, size_t capacity) {
    cache_capacity = capacity;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasLtLoggerSetCallback, cublasLtLoggerCallback_t callback) {
    (void)callback;
    return CUBLAS_STATUS_SUCCESS;
}
CUBLAS_API(cublasLtLoggerSetFile, FILE *file) {
    (void)file;
    return CUBLAS_STATUS_SUCCESS;
}
CUBLAS_API(cublasLtLoggerOpenFile, const char *file) {
    (void)file;
    return CUBLAS_STATUS_SUCCESS;
}
CUBLAS_API(cublasLtLoggerSetLevel, int level) {
    (void)level;
    return CUBLAS_STATUS_SUCCESS;
}
CUBLAS_API(cublasLtLoggerSetMask, int mask) {
    (void)mask;
    return CUBLAS_STATUS_SUCCESS;
}
CUBLAS_API(cublasLtLoggerForceDisable, void) { return CUBLAS_STATUS_SUCCESS; }
