/* Matrix products: the choice of the kernel for each combination of types. */
#include "cublas/core/core.h"

bool cublas_is_operation(cublasOperation_t operation) {
    return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}

struct matrix cublas_matrix(const void *base, int type, long long ld) {
    return (struct matrix){.base = (void *)(uintptr_t)base, .type = type, .row = 1, .col = ld, .fill = FILL_ALL};
}

struct matrix cublas_operand(const void *base, int type, long long ld, cublasOperation_t operation) {
    struct matrix matrix = cublas_matrix(base, type, ld);
    if (operation != CUBLAS_OP_N) {
        matrix.row = ld;
        matrix.col = 1;
    }
    matrix.is_conjugated = operation == CUBLAS_OP_C;
    return matrix;
}

struct matrix cublas_batch(struct matrix matrix, const void *array, long long stride) {
    matrix.array = array;
    matrix.batch = stride;
    return matrix;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* The types of A and B, of C and D, and of alpha and beta that each family of compute types combines. */
static const struct combination {
    int compute; /* the first of its family */
    int input, output, scale;
} combinations[] = {
    {CUBLAS_COMPUTE_16F, ELEMENT_F16, ELEMENT_F16, ELEMENT_F16},
    {CUBLAS_COMPUTE_32I, ELEMENT_I8, ELEMENT_I32, ELEMENT_I32},
    {CUBLAS_COMPUTE_32F, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32},
    {CUBLAS_COMPUTE_32F, ELEMENT_F16, ELEMENT_F16, ELEMENT_F32},
    {CUBLAS_COMPUTE_32F, ELEMENT_I8, ELEMENT_F32, ELEMENT_F32},
    {CUBLAS_COMPUTE_32F, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {CUBLAS_COMPUTE_32F, ELEMENT_F16, ELEMENT_F32, ELEMENT_F32},
    {CUBLAS_COMPUTE_32F, ELEMENT_F32, ELEMENT_F32, ELEMENT_F32},
    {CUBLAS_COMPUTE_32F, ELEMENT_C32, ELEMENT_C32, ELEMENT_C32},
    {CUBLAS_COMPUTE_64F, ELEMENT_F64, ELEMENT_F64, ELEMENT_F64},
    {CUBLAS_COMPUTE_64F, ELEMENT_C64, ELEMENT_C64, ELEMENT_C64},
};

static int family_of(int compute) {
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUBLAS_COMPUTE_32I;
    default:
        return CUBLAS_COMPUTE_32F;
    }
}

/* Hermitian products have real scalars. */
static bool is_scale(int scale, int type) {
    return scale == type || (scale == ELEMENT_C32 && type == ELEMENT_F32) ||
           (scale == ELEMENT_C64 && type == ELEMENT_F64);
}

bool cublas_has_product(const struct product *p, int compute) {
    for (size_t i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++) {
        const struct combination *c = &combinations[i];
        if (c->compute == family_of(compute) && c->input == p->a.type && c->input == p->b.type &&
            c->output == p->c.type && c->output == p->d.type && is_scale(c->scale, p->alpha.type))
            return true;
    }
    return false;
}

/* Single precision is rounded to tf32 only if the program allows it. */
static bool allows_tf32(const struct cublasContext *handle, int compute) {
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        return true;
    case CUBLAS_COMPUTE_32F: {
        int mode = handle->math_mode & 15;
        return mode == CUBLAS_TF32_TENSOR_OP_MATH || mode == CUBLAS_TENSOR_OP_MATH;
    }
    default:
        return false;
    }
}

/* The kernels with matrix instructions take plain operands. */
static bool uses_matrix_units(const struct cublasContext *handle, const struct product *p, int compute) {
    bool is_plain = p->a.shape == SHAPE_GENERAL && p->b.shape == SHAPE_GENERAL && p->fill == FILL_ALL;
    bool has_kernel =
        p->a.type == ELEMENT_F32 ? allows_tf32(handle, compute) : p->a.type != ELEMENT_C32 && p->a.type != ELEMENT_C64;
    bool is_small = p->k < 8; /* a column of fragments would be mostly empty */
    return is_plain && has_kernel && !is_small && library_has_matrix_units();
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

static long long ceiling(long long n, long long of) { return (n + of - 1) / of; }

cublasStatus_t cublas_product(struct cublasContext *handle, const char *name, struct product *p, int compute) {
    if (!cublas_has_product(p, compute))
        return CUBLAS_REFUSE(name, "types %d and %d to %d with compute type %d are not supported", p->a.type, p->b.type,
                             p->d.type, compute);
    if (!p->m || !p->n || !p->n_batches)
        return CUBLAS_STATUS_SUCCESS;
    bool is_wide = p->a.type == ELEMENT_F64 || p->a.type == ELEMENT_C32 || p->a.type == ELEMENT_C64;
    long long tile = is_wide ? 32 : 64, batches = p->n_batches < 65535 ? p->n_batches : 65535;
    long long grid[3] = {ceiling(p->m, tile), ceiling(p->n, tile), batches};
    if (!uses_matrix_units(handle, p, compute))
        return cublas_launch(handle, CUBLAS_PRODUCT, "product", p->a.type, grid, 256, p);
    const char *kernel = p->a.type == ELEMENT_F32 ? "mma_tf32" : "mma";
    return cublas_launch(handle, CUBLAS_PRODUCT_MMA, kernel, p->a.type, grid, 128, p);
}
