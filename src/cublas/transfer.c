/* cuBLAS: copies of vectors and matrices between host and device. */
#include "cublas/core/core.h"

/* Copies `rows` elements of each column. A vector with a step is a matrix of one row. */
static cublasStatus_t copy(CUmemorytype from_type, const void *from, int64_t from_pitch, CUmemorytype to_type, void *to,
                           int64_t to_pitch, int64_t row_bytes, int64_t n, CUstream stream, bool waits) {
    CUDA_MEMCPY2D job = {.srcMemoryType = from_type,
                         .srcHost = from,
                         .srcDevice = (CUdeviceptr)(uintptr_t)from,
                         .srcPitch = (size_t)from_pitch,
                         .dstMemoryType = to_type,
                         .dstHost = to,
                         .dstDevice = (CUdeviceptr)(uintptr_t)to,
                         .dstPitch = (size_t)to_pitch,
                         .WidthInBytes = (size_t)row_bytes,
                         .Height = (size_t)n};
    if (n == 1) /* then pitches do not matter, and may be too small */
        job.srcPitch = job.dstPitch = (size_t)row_bytes;
    CUresult result = library_start();
    if (result == CUDA_SUCCESS && row_bytes && n)
        result = waits ? cuMemcpy2D(&job) : cuMemcpy2DAsync(&job, stream);
    return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

static cublasStatus_t copy_vector(bool is_to_device, int64_t n, int64_t bytes, const void *from, int64_t from_step,
                                  void *to, int64_t to_step, CUstream stream, bool waits) {
    if (n < 0 || bytes <= 0 || from_step <= 0 || to_step <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return copy(is_to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, from, from_step * bytes,
                is_to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST, to, to_step * bytes, bytes, n, stream, waits);
}

static cublasStatus_t copy_matrix(bool is_to_device, int64_t rows, int64_t cols, int64_t bytes, const void *from,
                                  int64_t from_ld, void *to, int64_t to_ld, CUstream stream, bool waits) {
    if (rows < 0 || cols < 0 || bytes <= 0 || from_ld <= 0 || to_ld <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (from_ld < rows || to_ld < rows) /* even of a single column */
        return CUBLAS_STATUS_MAPPING_ERROR;
    return copy(is_to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, from, from_ld * bytes,
                is_to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST, to, to_ld * bytes, rows * bytes, cols, stream,
                waits);
}

#define TRANSFERS(Direction, is_to_device, I, suffix)                                                                  \
    CUBLAS_API(cublas##Direction##Vector##suffix, I n, I bytes, const void *x, I incx, void *y, I incy) {              \
        return copy_vector(is_to_device, n, bytes, x, incx, y, incy, NULL, true);                                      \
    }                                                                                                                  \
    CUBLAS_API(cublas##Direction##VectorAsync##suffix, I n, I bytes, const void *x, I incx, void *y, I incy,           \
               cudaStream_t stream) {                                                                                  \
        return copy_vector(is_to_device, n, bytes, x, incx, y, incy, stream, false);                                   \
    }                                                                                                                  \
    CUBLAS_API(cublas##Direction##Matrix##suffix, I rows, I cols, I bytes, const void *a, I lda, void *b, I ldb) {     \
        return copy_matrix(is_to_device, rows, cols, bytes, a, lda, b, ldb, NULL, true);                               \
    }                                                                                                                  \
    CUBLAS_API(cublas##Direction##MatrixAsync##suffix, I rows, I cols, I bytes, const void *a, I lda, void *b, I ldb,  \
               cudaStream_t stream) {                                                                                  \
        return copy_matrix(is_to_device, rows, cols, bytes, a, lda, b, ldb, stream, false);                            \
    }
TRANSFERS(Set, true, int, )
TRANSFERS(Set, true, int64_t, _64)
TRANSFERS(Get, false, int, )
TRANSFERS(Get, false, int64_t, _64)
