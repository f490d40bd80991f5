/* Handles of both libraries, their device memory, and launches of kernels. */
#include "cublas/core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x626c6173 };

/* The PTX of kernels/, from the build. */
extern const char cublas_ptx_product[], cublas_ptx_product_mma[], cublas_ptx_vector[], cublas_ptx_matrix[],
    cublas_ptx_factor[];

static struct library_module modules[CUBLAS_N_MODULES] = {
    [CUBLAS_PRODUCT] = {.ptx = cublas_ptx_product}, [CUBLAS_PRODUCT_MMA] = {.ptx = cublas_ptx_product_mma},
    [CUBLAS_VECTOR] = {.ptx = cublas_ptx_vector},   [CUBLAS_MATRIX] = {.ptx = cublas_ptx_matrix},
    [CUBLAS_FACTOR] = {.ptx = cublas_ptx_factor},
};

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

cublasStatus_t cublas_new(struct cublasContext **handle) {
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (library_start() != CUDA_SUCCESS)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof(**handle));
    if (!*handle)
        return CUBLAS_STATUS_ALLOC_FAILED;
    (*handle)->magic = MAGIC;
    return CUBLAS_STATUS_SUCCESS;
}

bool cublas_is_handle(const struct cublasContext *handle) { return handle && handle->magic == MAGIC; }

cublasStatus_t cublas_delete(struct cublasContext *handle) {
    CUBLAS_ENTER(handle);
    if (handle->scratch)
        cuMemFree(handle->scratch);
    handle->magic = 0;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublas_status(CUresult result) {
    switch (result) {
    case CUDA_SUCCESS:
        return CUBLAS_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return CUBLAS_STATUS_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
        return CUBLAS_STATUS_NOT_INITIALIZED;
    default:
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

/* ---- What the libraries say about themselves --------------------------------------------------------------------- */

cublasStatus_t cublas_property(int type, int *value) {
    const int versions[3] = {[MAJOR_VERSION] = cublas_major, [MINOR_VERSION] = 0, [PATCH_LEVEL] = 0};
    if (!value || type < 0 || type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = versions[type];
    return CUBLAS_STATUS_SUCCESS;
}

int cublas_version(void) { return cublas_major * 10000; }

static const struct {
    int status;
    const char *name, *text;
} statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the architecture of the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
     "the functionality requested requires some license and an error was detected"},
};

const char *cublas_status_name(int status) {
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "unknown cublasStatus_t";
}

const char *cublas_status_text(int status) {
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "unknown cublasStatus_t";
}

/* ---- Scalars ----------------------------------------------------------------------------------------------------- */

size_t cublas_element_bytes(int type) {
    switch (type) {
    case ELEMENT_I8:
        return 1;
    case ELEMENT_F16:
    case ELEMENT_BF16:
        return 2;
    case ELEMENT_F64:
    case ELEMENT_C32:
        return 8;
    case ELEMENT_C64:
        return 16;
    default:
        return 4;
    }
}

static float from_half(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    float value;
    if (!exponent) {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    uint32_t wide = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

static float from_bfloat(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

struct scalar cublas_scalar_in(bool is_on_device, const void *at, int type) {
    if (is_on_device)
        return (struct scalar){.at = at, .type = type};
    struct scalar scalar = {.type = type};
    switch (type) {
    case ELEMENT_F32:
        scalar.re = *(const float *)at;
        break;
    case ELEMENT_F64:
        scalar.re = *(const double *)at;
        break;
    case ELEMENT_F16:
        scalar.re = from_half(*(const uint16_t *)at);
        break;
    case ELEMENT_BF16:
        scalar.re = from_bfloat(*(const uint16_t *)at);
        break;
    case ELEMENT_I32:
        scalar.re = *(const int *)at;
        break;
    case ELEMENT_C32:
        scalar.re = ((const float *)at)[0], scalar.im = ((const float *)at)[1];
        break;
    case ELEMENT_C64:
        scalar.re = ((const double *)at)[0], scalar.im = ((const double *)at)[1];
        break;
    default:
        break;
    }
    return scalar;
}

struct scalar cublas_scalar(const struct cublasContext *handle, const void *at, int type) {
    return cublas_scalar_in(handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE, at, type);
}

bool cublas_is_zero(const struct scalar *scalar) { return !scalar->at && scalar->re == 0 && scalar->im == 0; }
bool cublas_is_one(const struct scalar *scalar) { return !scalar->at && scalar->re == 1 && scalar->im == 0; }

/* ---- Device memory ----------------------------------------------------------------------------------------------- */

void *cublas_scratch(struct cublasContext *handle, size_t bytes) {
    if (handle->scratch_bytes < bytes) {
        if (handle->scratch)
            cuMemFree(handle->scratch);
        handle->scratch = 0;
        handle->scratch_bytes = 0;
        size_t room = bytes < 65536 ? 65536 : bytes;
        if (library_start() != CUDA_SUCCESS || cuMemAlloc(&handle->scratch, room) != CUDA_SUCCESS)
            return NULL;
        handle->scratch_bytes = room;
    }
    return (void *)(uintptr_t)handle->scratch;
}

cublasStatus_t cublas_return(struct cublasContext *handle, const void *from, void *to, size_t bytes) {
    CUdeviceptr device = (CUdeviceptr)(uintptr_t)from;
    CUresult result;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        return cublas_status(cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)to, device, bytes, handle->stream));
    result = cuMemcpyDtoHAsync(to, device, bytes, handle->stream);
    if (result == CUDA_SUCCESS)
        result = cuStreamSynchronize(handle->stream);
    return cublas_status(result);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

const char *cublas_type_name(int type) {
    switch (type) {
    case ELEMENT_F32:
        return "f32";
    case ELEMENT_F64:
        return "f64";
    case ELEMENT_F16:
        return "f16";
    case ELEMENT_BF16:
        return "bf16";
    case ELEMENT_I8:
        return "i8";
    case ELEMENT_C32:
        return "c32";
    case ELEMENT_C64:
        return "c64";
    default:
        return NULL;
    }
}

cublasStatus_t cublas_launch(struct cublasContext *handle, enum cublas_module module, const char *operation, int type,
                             const long long grid[3], unsigned threads, const void *parameters) {
    static const long long limits[3] = {0x7fffffff, 65535, 65535};
    char name[64];
    unsigned blocks[3];
    for (int i = 0; i < 3; i++) {
        if (grid[i] > limits[i])
            return CUBLAS_STATUS_INVALID_VALUE;
        blocks[i] = (unsigned)grid[i];
    }
    snprintf(name, sizeof(name), "%s_%s", operation, cublas_type_name(type));
    return cublas_status(library_launch(&modules[module], name, blocks, threads, handle->stream, parameters));
}
