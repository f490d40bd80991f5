/* Inside libcublas and libcublasLt: the handle, launches, and matrix products.
 *
 * A function of the interface reads
 *     CUBLAS_ENTER(handle);
 *     if (arguments are wrong)
 *         return CUBLAS_STATUS_INVALID_VALUE;
 *     return cublas_launch(...);
 * Names with a small letter after cublas_ stay inside the libraries. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cublas/kernels/product.h"
#include "cublas/kernels/vector.h"
#include "cublas/types.h"
#include "library/library.h"

#pragma GCC visibility push(hidden)

/* 11, 12 or 13, from version.c. */
extern const int cublas_major;

/* A handle of either library: a program may use a cuBLAS handle as one of cublasLt. */
struct cublasContext {
    unsigned magic;
    CUstream stream;
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasMath_t math_mode;
    int sm_count_target;
    cublasEmulationStrategy_t emulation_strategy;
    int emulation_special_values, mantissa_control, max_mantissa_bits, mantissa_bit_offset;
    int *mantissa_bits;
    CUdeviceptr scratch; /* for results and partial sums */
    size_t scratch_bytes;
};

/* ---- Handles (handle.c) ------------------------------------------------------------------------------------------ */

cublasStatus_t cublas_new(struct cublasContext **handle);
cublasStatus_t cublas_delete(struct cublasContext *handle);
bool cublas_is_handle(const struct cublasContext *handle);
#define CUBLAS_ENTER(handle)                                                                                           \
    if (!cublas_is_handle(handle))                                                                                     \
    return CUBLAS_STATUS_NOT_INITIALIZED

cublasStatus_t cublas_status(CUresult result);
cublasStatus_t cublas_property(int type, int *value);
int cublas_version(void);
const char *cublas_status_name(int status);
const char *cublas_status_text(int status);

/* A scalar argument, as the handle's pointer mode says. */
struct scalar cublas_scalar(const struct cublasContext *handle, const void *at, int type);
/* The same for a mode of its own. */
struct scalar cublas_scalar_in(bool is_on_device, const void *at, int type);
bool cublas_is_zero(const struct scalar *scalar);
bool cublas_is_one(const struct scalar *scalar);
size_t cublas_element_bytes(int type);

/* Returns at least `bytes` of device memory, valid until the next call for this handle; NULL if there is none. */
void *cublas_scratch(struct cublasContext *handle, size_t bytes);
/* Copies a result of a kernel to the program: a host or device pointer, as the pointer mode says. */
cublasStatus_t cublas_return(struct cublasContext *handle, const void *from, void *to, size_t bytes);

/* ---- Kernels (handle.c, product.c) ------------------------------------------------------------------------------- */

enum cublas_module {
    CUBLAS_PRODUCT,
    CUBLAS_PRODUCT_MMA,
    CUBLAS_VECTOR,
    CUBLAS_MATRIX,
    CUBLAS_FACTOR,
    CUBLAS_N_MODULES
};

/* Launches the kernel `operation`_`type`. */
cublasStatus_t cublas_launch(struct cublasContext *handle, enum cublas_module module, const char *operation, int type,
                             const long long grid[3], unsigned threads, const void *parameters);
/* The suffix of kernels for elements of this type; NULL: there are none. */
const char *cublas_type_name(int type);

/* A matrix in column-major order. */
struct matrix cublas_matrix(const void *base, int type, long long ld);
/* op(matrix) */
struct matrix cublas_operand(const void *base, int type, long long ld, cublasOperation_t operation);
/* The matrices of a batch: neither, `array` or `stride`. */
struct matrix cublas_batch(struct matrix matrix, const void *array, long long stride);
bool cublas_is_operation(cublasOperation_t operation);

/* Launches a matrix product of A, B, C and D, whose types must fit each other. `name` is the function that a refusal
 * names. */
cublasStatus_t cublas_product(struct cublasContext *handle, const char *name, struct product *product, int compute);

/* Returns true if cublas_product() has a kernel for the types. */
bool cublas_has_product(const struct product *product, int compute);

/* matrix.c: a vector whose steps may be negative; then element 0 is the last in memory. */
struct vector cublas_vector(const void *base, int type, int64_t n, int64_t step);
/* y = alpha A x + beta y, and operations on each element of a matrix. */
cublasStatus_t cublas_times(struct cublasContext *handle, const struct matrix_vector *job);
cublasStatus_t cublas_each_element(struct cublasContext *handle, const char *operation, const struct matrix_sum *job);

/* Solves triangular systems. */
cublasStatus_t cublas_solve(struct cublasContext *handle, const struct triangle *job);

/* Prints a refusal and returns CUBLAS_STATUS_NOT_SUPPORTED. */
#define CUBLAS_REFUSE(...) (library_refuse_case(__VA_ARGS__), CUBLAS_STATUS_NOT_SUPPORTED)

#pragma GCC visibility pop
