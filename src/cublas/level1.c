/* cuBLAS level 1: vectors. Every function exists for 32-bit and 64-bit sizes. */
#include "cublas/core/core.h"

#include <math.h>

enum { THREADS = 256, MOST_BLOCKS = 128 };

static long long n_blocks(int64_t n) {
    int64_t blocks = (n + 4 * THREADS - 1) / (4 * THREADS);
    return blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks;
}

static bool is_type(int type) {
    return type == ELEMENT_F32 || type == ELEMENT_F64 || type == ELEMENT_F16 || type == ELEMENT_BF16 ||
           type == ELEMENT_C32 || type == ELEMENT_C64;
}

/* The type that kernels compute in, for the Ex functions' execution type. */
static bool is_computed_in(int type, int compute) {
    switch (type) {
    case ELEMENT_F16:
    case ELEMENT_BF16:
        return compute == ELEMENT_F32;
    default:
        return compute == type;
    }
}

static cublasStatus_t launch(cublasHandle_t handle, const char *operation, const struct vector_job *job) {
    return cublas_launch(handle, CUBLAS_VECTOR, operation, job->x.type, (const long long[]){n_blocks(job->n), 1, 1},
                         THREADS, job);
}

/* ---- Each element by itself -------------------------------------------------------------------------------------- */

static cublasStatus_t axpy(cublasHandle_t handle, int64_t n, const void *alpha, int scale, const void *x, int type,
                           int64_t incx, void *y, int64_t incy) {
    CUBLAS_ENTER(handle);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    if (!alpha || !x || !y)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx), .y = cublas_vector(y, type, n, incy)};
    job.alpha = cublas_scalar(handle, alpha, scale);
    return cublas_is_zero(&job.alpha) ? CUBLAS_STATUS_SUCCESS : launch(handle, "axpy", &job);
}

static cublasStatus_t scal(cublasHandle_t handle, int64_t n, const void *alpha, int scale, void *x, int type,
                           int64_t incx) {
    CUBLAS_ENTER(handle);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    if (!alpha || !x)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx)};
    job.alpha = cublas_scalar(handle, alpha, scale);
    return launch(handle, "scal", &job);
}

/* copy and swap */
static cublasStatus_t move(cublasHandle_t handle, const char *operation, int64_t n, const void *x, int type,
                           int64_t incx, const void *y, int64_t incy) {
    CUBLAS_ENTER(handle);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    if (!x || !y)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx), .y = cublas_vector(y, type, n, incy)};
    return launch(handle, operation, &job);
}

static cublasStatus_t rot(cublasHandle_t handle, int64_t n, void *x, int type, int64_t incx, void *y, int64_t incy,
                          const void *c, int c_type, const void *s, int s_type) {
    CUBLAS_ENTER(handle);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    if (!x || !y || !c || !s)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx), .y = cublas_vector(y, type, n, incy)};
    job.alpha = cublas_scalar(handle, c, c_type);
    job.beta = cublas_scalar(handle, s, s_type);
    return launch(handle, "rot", &job);
}

static cublasStatus_t rotm(cublasHandle_t handle, int64_t n, void *x, int type, int64_t incx, void *y, int64_t incy,
                           const void *parameters) {
    CUBLAS_ENTER(handle);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    if (!x || !y || !parameters)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx), .y = cublas_vector(y, type, n, incy)};
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        job.parameters_at = parameters;
    else
        for (int i = 0; i < 5; i++)
            job.parameters[i] =
                type == ELEMENT_F32 ? (double)((const float *)parameters)[i] : ((const double *)parameters)[i];
    return launch(handle, "rotm", &job);
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

enum { STATE_BYTES = 24, RESULT_BYTES = 16 }; /* of the largest */

/* The result comes first in the handle's memory, then partial results. */
static cublasStatus_t reduce(cublasHandle_t handle, const char *operation, struct vector_job *job, void *result,
                             size_t bytes) {
    char *scratch = cublas_scratch(handle, RESULT_BYTES + MOST_BLOCKS * STATE_BYTES);
    if (!scratch)
        return CUBLAS_STATUS_ALLOC_FAILED;
    job->result = scratch;
    job->partials = scratch + RESULT_BYTES;
    long long n_partials = n_blocks(job->n);
    cublasStatus_t status = launch(handle, operation, job);
    if (status == CUBLAS_STATUS_SUCCESS && n_partials > 1) {
        job->n = n_partials; /* few enough for one block */
        job->is_last = 1;
        status = launch(handle, operation, job);
    }
    return status != CUBLAS_STATUS_SUCCESS ? status : cublas_return(handle, scratch, result, bytes);
}

/* Without elements the result is zero. */
static cublasStatus_t return_zero(cublasHandle_t handle, void *result, size_t bytes) {
    void *scratch = cublas_scratch(handle, RESULT_BYTES);
    if (!scratch)
        return CUBLAS_STATUS_ALLOC_FAILED;
    cublasStatus_t status = cublas_status(cuMemsetD8Async((CUdeviceptr)(uintptr_t)scratch, 0, bytes, handle->stream));
    return status != CUBLAS_STATUS_SUCCESS ? status : cublas_return(handle, scratch, result, bytes);
}

static cublasStatus_t dot(cublasHandle_t handle, const char *operation, int64_t n, const void *x, int type,
                          int64_t incx, const void *y, int64_t incy, void *result, int result_type) {
    CUBLAS_ENTER(handle);
    if (!result)
        return CUBLAS_STATUS_INVALID_VALUE;
    size_t bytes = cublas_element_bytes(result_type);
    if (n <= 0)
        return return_zero(handle, result, bytes);
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx), .y = cublas_vector(y, type, n, incy)};
    job.result_type = result_type;
    return reduce(handle, operation, &job, result, bytes);
}

/* asum, nrm2, amax, amin */
static cublasStatus_t measure(cublasHandle_t handle, const char *operation, int64_t n, const void *x, int type,
                              int64_t incx, void *result, int result_type, size_t bytes) {
    CUBLAS_ENTER(handle);
    if (!result)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0 || incx <= 0)
        return return_zero(handle, result, bytes);
    struct vector_job job = {.n = n, .x = cublas_vector(x, type, n, incx), .result_type = result_type};
    return reduce(handle, operation, &job, result, bytes);
}

/* ---- The interface ----------------------------------------------------------------------------------------------- */

#define WITH_SIZES(FUNCTIONS, ...)                                                                                     \
    FUNCTIONS(__VA_ARGS__, int, )                                                                                      \
    FUNCTIONS(__VA_ARGS__, int64_t, _64)

/* Letter, C type and element type; the letters of functions whose result is real, and its types. */
#define FUNCTIONS(S, T, element, R, Rs, real, I, suffix)                                                               \
    CUBLAS_API(cublas##S##axpy_v2##suffix, cublasHandle_t handle, I n, const T *alpha, const T *x, I incx, T *y,       \
               I incy) {                                                                                               \
        return axpy(handle, n, alpha, element, x, element, incx, y, incy);                                             \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##scal_v2##suffix, cublasHandle_t handle, I n, const T *alpha, T *x, I incx) {                 \
        return scal(handle, n, alpha, element, x, element, incx);                                                      \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##copy_v2##suffix, cublasHandle_t handle, I n, const T *x, I incx, T *y, I incy) {             \
        return move(handle, "copy", n, x, element, incx, y, incy);                                                     \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##swap_v2##suffix, cublasHandle_t handle, I n, T *x, I incx, T *y, I incy) {                   \
        return move(handle, "swap", n, x, element, incx, y, incy);                                                     \
    }                                                                                                                  \
    CUBLAS_API(cublas##S##rot_v2##suffix, cublasHandle_t handle, I n, T *x, I incx, T *y, I incy, const R *c,          \
               const T *s) {                                                                                           \
        return rot(handle, n, x, element, incx, y, incy, c, real, s, element);                                         \
    }                                                                                                                  \
    CUBLAS_API(cublas##Rs##nrm2_v2##suffix, cublasHandle_t handle, I n, const T *x, I incx, R *result) {               \
        return measure(handle, "nrm2", n, x, element, incx, result, real, sizeof(R));                                  \
    }                                                                                                                  \
    CUBLAS_API(cublas##Rs##asum_v2##suffix, cublasHandle_t handle, I n, const T *x, I incx, R *result) {               \
        return measure(handle, "asum", n, x, element, incx, result, real, sizeof(R));                                  \
    }
WITH_SIZES(FUNCTIONS, S, float, ELEMENT_F32, float, S, ELEMENT_F32)
WITH_SIZES(FUNCTIONS, D, double, ELEMENT_F64, double, D, ELEMENT_F64)
WITH_SIZES(FUNCTIONS, C, cuComplex, ELEMENT_C32, float, Sc, ELEMENT_F32)
WITH_SIZES(FUNCTIONS, Z, cuDoubleComplex, ELEMENT_C64, double, Dz, ELEMENT_F64)

#define EXTREMES(s, T, element, I, suffix)                                                                             \
    CUBLAS_API(cublasI##s##amax_v2##suffix, cublasHandle_t handle, I n, const T *x, I incx, I *result) {               \
        return measure(handle, "amax", n, x, element, incx, result, sizeof(I) == 4 ? ELEMENT_I32 : -1, sizeof(I));     \
    }                                                                                                                  \
    CUBLAS_API(cublasI##s##amin_v2##suffix, cublasHandle_t handle, I n, const T *x, I incx, I *result) {               \
        return measure(handle, "amin", n, x, element, incx, result, sizeof(I) == 4 ? ELEMENT_I32 : -1, sizeof(I));     \
    }
WITH_SIZES(EXTREMES, s, float, ELEMENT_F32)
WITH_SIZES(EXTREMES, d, double, ELEMENT_F64)
WITH_SIZES(EXTREMES, c, cuComplex, ELEMENT_C32)
WITH_SIZES(EXTREMES, z, cuDoubleComplex, ELEMENT_C64)

#define DOT(name, operation, T, element, I, suffix)                                                                    \
    CUBLAS_API(cublas##name##_v2##suffix, cublasHandle_t handle, I n, const T *x, I incx, const T *y, I incy,          \
               T *result) {                                                                                            \
        return dot(handle, operation, n, x, element, incx, y, incy, result, element);                                  \
    }
WITH_SIZES(DOT, Sdot, "dot", float, ELEMENT_F32)
WITH_SIZES(DOT, Ddot, "dot", double, ELEMENT_F64)
WITH_SIZES(DOT, Cdotu, "dot", cuComplex, ELEMENT_C32)
WITH_SIZES(DOT, Cdotc, "dotc", cuComplex, ELEMENT_C32)
WITH_SIZES(DOT, Zdotu, "dot", cuDoubleComplex, ELEMENT_C64)
WITH_SIZES(DOT, Zdotc, "dotc", cuDoubleComplex, ELEMENT_C64)

/* Complex vectors, real scalars. */
#define MIXED(CS, Z, T, element, R, real, I, suffix)                                                                   \
    CUBLAS_API(cublas##CS##scal_v2##suffix, cublasHandle_t handle, I n, const R *alpha, T *x, I incx) {                \
        return scal(handle, n, alpha, real, x, element, incx);                                                         \
    }                                                                                                                  \
    CUBLAS_API(cublas##CS##rot_v2##suffix, cublasHandle_t handle, I n, T *x, I incx, T *y, I incy, const R *c,         \
               const R *s) {                                                                                           \
        return rot(handle, n, x, element, incx, y, incy, c, real, s, real);                                            \
    }
WITH_SIZES(MIXED, Cs, C, cuComplex, ELEMENT_C32, float, ELEMENT_F32)
WITH_SIZES(MIXED, Zd, Z, cuDoubleComplex, ELEMENT_C64, double, ELEMENT_F64)

#define ROTM(S, T, element, I, suffix)                                                                                 \
    CUBLAS_API(cublas##S##rotm_v2##suffix, cublasHandle_t handle, I n, T *x, I incx, T *y, I incy,                     \
               const T *parameters) {                                                                                  \
        return rotm(handle, n, x, element, incx, y, incy, parameters);                                                 \
    }
WITH_SIZES(ROTM, S, float, ELEMENT_F32)
WITH_SIZES(ROTM, D, double, ELEMENT_F64)

/* ---- Functions with types as arguments --------------------------------------------------------------------------- */

/* Returns from the function if the types do not fit each other. */
#define NEED_TYPES(condition)                                                                                          \
    if (!(condition))                                                                                                  \
    return CUBLAS_REFUSE(__func__, "this combination of types is not supported")

#define EX_FUNCTIONS(unused, I, suffix)                                                                                \
    CUBLAS_API(cublasAxpyEx##suffix, cublasHandle_t handle, I n, const void *alpha, cudaDataType alpha_type,           \
               const void *x, cudaDataType x_type, I incx, void *y, cudaDataType y_type, I incy,                       \
               cudaDataType compute) {                                                                                 \
        NEED_TYPES(is_type((int)x_type) && x_type == y_type && is_computed_in((int)x_type, (int)compute));             \
        return axpy(handle, n, alpha, (int)alpha_type, x, (int)x_type, incx, y, incy);                                 \
    }                                                                                                                  \
    CUBLAS_API(cublasScalEx##suffix, cublasHandle_t handle, I n, const void *alpha, cudaDataType alpha_type, void *x,  \
               cudaDataType x_type, I incx, cudaDataType compute) {                                                    \
        NEED_TYPES(is_type((int)x_type) && is_computed_in((int)x_type, (int)compute));                                 \
        return scal(handle, n, alpha, (int)alpha_type, x, (int)x_type, incx);                                          \
    }                                                                                                                  \
    CUBLAS_API(cublasCopyEx##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx, void *y,  \
               cudaDataType y_type, I incy) {                                                                          \
        NEED_TYPES(is_type((int)x_type) && x_type == y_type);                                                          \
        return move(handle, "copy", n, x, (int)x_type, incx, y, incy);                                                 \
    }                                                                                                                  \
    CUBLAS_API(cublasSwapEx##suffix, cublasHandle_t handle, I n, void *x, cudaDataType x_type, I incx, void *y,        \
               cudaDataType y_type, I incy) {                                                                          \
        NEED_TYPES(is_type((int)x_type) && x_type == y_type);                                                          \
        return move(handle, "swap", n, x, (int)x_type, incx, y, incy);                                                 \
    }                                                                                                                  \
    CUBLAS_API(cublasDotEx##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx,            \
               const void *y, cudaDataType y_type, I incy, void *result, cudaDataType result_type,                     \
               cudaDataType compute) {                                                                                 \
        NEED_TYPES(is_type((int)x_type) && x_type == y_type && result_type == x_type &&                                \
                   is_computed_in((int)x_type, (int)compute));                                                         \
        return dot(handle, "dot", n, x, (int)x_type, incx, y, incy, result, (int)result_type);                         \
    }                                                                                                                  \
    CUBLAS_API(cublasDotcEx##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx,           \
               const void *y, cudaDataType y_type, I incy, void *result, cudaDataType result_type,                     \
               cudaDataType compute) {                                                                                 \
        NEED_TYPES(is_type((int)x_type) && x_type == y_type && result_type == x_type &&                                \
                   is_computed_in((int)x_type, (int)compute));                                                         \
        bool is_complex = x_type == CUDA_C_32F || x_type == CUDA_C_64F;                                                \
        return dot(handle, is_complex ? "dotc" : "dot", n, x, (int)x_type, incx, y, incy, result, (int)result_type);   \
    }                                                                                                                  \
    CUBLAS_API(cublasNrm2Ex##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx,           \
               void *result, cudaDataType result_type, cudaDataType compute) {                                         \
        (void)compute;                                                                                                 \
        NEED_TYPES(is_type((int)x_type) && (int)result_type == real_of((int)x_type));                                  \
        return measure(handle, "nrm2", n, x, (int)x_type, incx, result, (int)result_type,                              \
                       cublas_element_bytes((int)result_type));                                                        \
    }                                                                                                                  \
    CUBLAS_API(cublasAsumEx##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx,           \
               void *result, cudaDataType result_type, cudaDataType compute) {                                         \
        (void)compute;                                                                                                 \
        NEED_TYPES(is_type((int)x_type) && (int)result_type == real_of((int)x_type));                                  \
        return measure(handle, "asum", n, x, (int)x_type, incx, result, (int)result_type,                              \
                       cublas_element_bytes((int)result_type));                                                        \
    }                                                                                                                  \
    CUBLAS_API(cublasIamaxEx##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx,          \
               I *result) {                                                                                            \
        NEED_TYPES(is_type((int)x_type));                                                                              \
        return measure(handle, "amax", n, x, (int)x_type, incx, result, sizeof(I) == 4 ? ELEMENT_I32 : -1, sizeof(I)); \
    }                                                                                                                  \
    CUBLAS_API(cublasIaminEx##suffix, cublasHandle_t handle, I n, const void *x, cudaDataType x_type, I incx,          \
               I *result) {                                                                                            \
        NEED_TYPES(is_type((int)x_type));                                                                              \
        return measure(handle, "amin", n, x, (int)x_type, incx, result, sizeof(I) == 4 ? ELEMENT_I32 : -1, sizeof(I)); \
    }                                                                                                                  \
    CUBLAS_API(cublasRotEx##suffix, cublasHandle_t handle, I n, void *x, cudaDataType x_type, I incx, void *y,         \
               cudaDataType y_type, I incy, const void *c, const void *s, cudaDataType type, cudaDataType compute) {   \
        NEED_TYPES(is_type((int)x_type) && x_type == y_type && is_computed_in((int)x_type, (int)compute));             \
        return rot(handle, n, x, (int)x_type, incx, y, incy, c, (int)type, s, (int)type);                              \
    }                                                                                                                  \
    CUBLAS_API(cublasRotmEx##suffix, cublasHandle_t handle, I n, void *x, cudaDataType x_type, I incx, void *y,        \
               cudaDataType y_type, I incy, const void *parameters, cudaDataType type, cudaDataType compute) {         \
        NEED_TYPES(x_type == y_type && x_type == type && x_type == compute &&                                          \
                   (x_type == CUDA_R_32F || x_type == CUDA_R_64F));                                                    \
        return rotm(handle, n, x, (int)x_type, incx, y, incy, parameters);                                             \
    }

static int real_of(int type) { return type == ELEMENT_C32 ? ELEMENT_F32 : type == ELEMENT_C64 ? ELEMENT_F64 : type; }

WITH_SIZES(EX_FUNCTIONS, )

/* ---- Rotations of two numbers ------------------------------------------------------------------------------------ */

/* Copies n numbers from or to the program, wherever the pointer mode says they are. */
static CUresult exchange(const struct cublasContext *handle, void *own, void *theirs, size_t bytes, bool is_read) {
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        CUdeviceptr device = (CUdeviceptr)(uintptr_t)theirs;
        CUresult result = cuStreamSynchronize(handle->stream);
        if (result == CUDA_SUCCESS)
            result = is_read ? cuMemcpyDtoH(own, device, bytes) : cuMemcpyHtoD(device, own, bytes);
        return result;
    }
    char *to = is_read ? own : theirs, *from = is_read ? theirs : own;
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
    return CUDA_SUCCESS;
}

/* The rotation that turns (a, b) into (r, 0); b becomes the number from which both can be computed. */
#define ROTG(S, T, absolute, root, copy_sign)                                                                          \
    CUBLAS_API(cublas##S##rotg_v2, cublasHandle_t handle, T *a, T *b, T *c, T *s) {                                    \
        CUBLAS_ENTER(handle);                                                                                          \
        T x = 0, y = 0;                                                                                                \
        if (!a || !b || !c || !s)                                                                                      \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        CUresult result = exchange(handle, &x, a, sizeof(T), true);                                                    \
        if (result == CUDA_SUCCESS)                                                                                    \
            result = exchange(handle, &y, b, sizeof(T), true);                                                         \
        T scale = absolute(x) + absolute(y), r = 0, z = 0, cosine = 1, sine = 0;                                       \
        if (scale != 0) {                                                                                              \
            T larger = absolute(x) > absolute(y) ? x : y;                                                              \
            r = copy_sign(scale * root((x / scale) * (x / scale) + (y / scale) * (y / scale)), larger);                \
            cosine = x / r;                                                                                            \
            sine = y / r;                                                                                              \
            z = absolute(x) > absolute(y) ? sine : cosine != 0 ? 1 / cosine : 1;                                       \
        }                                                                                                              \
        T out[4] = {r, z, cosine, sine}, *to[4] = {a, b, c, s};                                                        \
        for (int i = 0; i < 4 && result == CUDA_SUCCESS; i++)                                                          \
            result = exchange(handle, &out[i], to[i], sizeof(T), false);                                               \
        return cublas_status(result);                                                                                  \
    }
ROTG(S, float, fabsf, sqrtf, copysignf)
ROTG(D, double, fabs, sqrt, copysign)
