/* cuBLAS: handles, their settings, versions and status names. */
#include "cublas/core/core.h"

#include <stdio.h>

CUBLAS_API(cublasCreate_v2, cublasHandle_t *handle) { return cublas_new(handle); }
CUBLAS_API(cublasDestroy_v2, cublasHandle_t handle) { return cublas_delete(handle); }

CUBLAS_API(cublasGetVersion_v2, cublasHandle_t handle, int *version) {
    (void)handle; /* may be NULL */
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = cublas_version();
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasGetProperty, libraryPropertyType type, int *value) { return cublas_property((int)type, value); }
CUBLAS_FUNCTION(size_t, cublasGetCudartVersion, void) { return (size_t)cublas_major * 1000; }
CUBLAS_FUNCTION(const char *, cublasGetStatusName, cublasStatus_t status) { return cublas_status_name(status); }
CUBLAS_FUNCTION(const char *, cublasGetStatusString, cublasStatus_t status) { return cublas_status_text(status); }

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

/* Our kernels need at most a little memory, which the handle has. */
CUBLAS_API(cublasSetWorkspace_v2, cublasHandle_t handle, void *workspace, size_t bytes) {
    CUBLAS_ENTER(handle);
    return (uintptr_t)workspace % 256 == 0 && (workspace || !bytes) ? CUBLAS_STATUS_SUCCESS
                                                                    : CUBLAS_STATUS_INVALID_VALUE;
}

CUBLAS_API(cublasSetStream_v2, cublasHandle_t handle, cudaStream_t stream) {
    CUBLAS_ENTER(handle);
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasGetStream_v2, cublasHandle_t handle, cudaStream_t *stream) {
    CUBLAS_ENTER(handle);
    if (!stream)
        return CUBLAS_STATUS_INVALID_VALUE;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

static bool is_pointer_mode(cublasPointerMode_t mode) { return (unsigned)mode <= CUBLAS_POINTER_MODE_DEVICE; }
static bool is_atomics_mode(cublasAtomicsMode_t mode) { return (unsigned)mode <= CUBLAS_ATOMICS_ALLOWED; }
static bool is_math_mode(cublasMath_t mode) { return (unsigned)mode < 32 && (mode & 15) <= 8; }
static bool is_strategy(cublasEmulationStrategy_t value) { return (unsigned)value <= CUBLAS_EMULATION_STRATEGY_EAGER; }
static bool is_count(int count) { return count >= 0; }
static bool is_any(long long value) {
    (void)value;
    return true;
}

/* A setting that the handle keeps. */
#define SETTING(name, type, member, is_valid)                                                                          \
    CUBLAS_API(cublasSet##name, cublasHandle_t handle, type value) {                                                   \
        CUBLAS_ENTER(handle);                                                                                          \
        if (!is_valid(value))                                                                                          \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        handle->member = value;                                                                                        \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    CUBLAS_API(cublasGet##name, cublasHandle_t handle, type *value) {                                                  \
        CUBLAS_ENTER(handle);                                                                                          \
        if (!value)                                                                                                    \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        *value = handle->member;                                                                                       \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
SETTING(PointerMode_v2, cublasPointerMode_t, pointer_mode, is_pointer_mode)
SETTING(AtomicsMode, cublasAtomicsMode_t, atomics_mode, is_atomics_mode)
SETTING(MathMode, cublasMath_t, math_mode, is_math_mode)
SETTING(SmCountTarget, int, sm_count_target, is_count)
SETTING(EmulationStrategy, cublasEmulationStrategy_t, emulation_strategy, is_strategy)
SETTING(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, emulation_special_values, is_any)
SETTING(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control, is_any)
SETTING(FixedPointEmulationMaxMantissaBitCount, int, max_mantissa_bits, is_any)
SETTING(FixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset, is_any)

CUBLAS_API(cublasSetFixedPointEmulationMantissaBitCountPointer, cublasHandle_t handle, int *count) {
    CUBLAS_ENTER(handle);
    handle->mantissa_bits = count;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasGetFixedPointEmulationMantissaBitCountPointer, cublasHandle_t handle, int **count) {
    CUBLAS_ENTER(handle);
    if (!count)
        return CUBLAS_STATUS_INVALID_VALUE;
    *count = handle->mantissa_bits;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Logging: nothing is logged ---------------------------------------------------------------------------------- */

static cublasLogCallback log_callback;

CUBLAS_API(cublasLoggerConfigure, int is_on, int to_stdout, int to_stderr, const char *file) {
    (void)is_on, (void)to_stdout, (void)to_stderr, (void)file;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasSetLoggerCallback, cublasLogCallback callback) {
    log_callback = callback;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasGetLoggerCallback, cublasLogCallback *callback) {
    if (!callback)
        return CUBLAS_STATUS_INVALID_VALUE;
    *callback = log_callback;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_FUNCTION(void, cublasXerbla, const char *name, int info) {
    fprintf(stderr, "** On entry to %s parameter number %d had an illegal value\n", name, info);
}
