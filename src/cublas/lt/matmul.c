/* cublasLt: matrix products with epilogues, their heuristics, and transforms of matrices. */
#include "cublas/lt/light.h"

#include <string.h>

static const struct light_layout *layout_of(const void *descriptor) { return descriptor; }

/* The matrix, or op of it. */
static struct matrix matrix_of(const void *base, const struct light_layout *layout, int operation) {
    struct matrix matrix = cublas_matrix(base, (int)layout->type, layout->ld);
    bool is_by_rows = layout->order == CUBLASLT_ORDER_ROW;
    if (is_by_rows != (operation != CUBLAS_OP_N)) {
        matrix.row = layout->ld;
        matrix.col = 1;
    }
    matrix.is_conjugated = operation == CUBLAS_OP_C;
    matrix.batch = layout->batch_offset;
    return matrix;
}

static bool is_layout(const struct light_layout *layout) {
    uint64_t line = layout->order == CUBLASLT_ORDER_ROW ? layout->cols : layout->rows;
    return layout->ld >= 1 && (uint64_t)layout->ld >= line && layout->n_batches >= 1;
}

static bool has_known_order(const struct light_layout *layout) {
    return layout->order == CUBLASLT_ORDER_COL || layout->order == CUBLASLT_ORDER_ROW;
}

/* ---- Products -----------------------------------------------------------------------------------------------------
 */

static uint64_t rows_of(const struct light_layout *layout, int operation) {
    return operation == CUBLAS_OP_N ? layout->rows : layout->cols;
}
static uint64_t cols_of(const struct light_layout *layout, int operation) {
    return operation == CUBLAS_OP_N ? layout->cols : layout->rows;
}

/* The descriptors of a product. */
struct call {
    const struct light_matmul *matmul;
    const struct light_layout *a, *b, *c, *d;
};

static bool is_valid(const struct call *call) {
    const struct light_matmul *m = call->matmul;
    if (!m || !call->a || !call->b || !call->c || !call->d)
        return false;
    return is_layout(call->a) && is_layout(call->b) && is_layout(call->c) && is_layout(call->d) &&
           rows_of(call->a, m->op_a) == call->d->rows && cols_of(call->a, m->op_a) == rows_of(call->b, m->op_b) &&
           cols_of(call->b, m->op_b) == call->d->cols && call->c->rows == call->d->rows &&
           call->c->cols == call->d->cols && call->a->n_batches == call->d->n_batches &&
           call->b->n_batches == call->d->n_batches;
}

/* Returns what of the product is missing here, or NULL. */
static const char *missing(const struct call *call) {
    const struct light_matmul *m = call->matmul;
    uint32_t gradients = LIGHT_BIAS_GRADIENT | LIGHT_A_GRADIENT | LIGHT_B_GRADIENT;
    if (!has_known_order(call->a) || !has_known_order(call->b) || !has_known_order(call->c) ||
        !has_known_order(call->d))
        return "an order other than rows or columns";
    if (m->pointer_mode != CUBLASLT_POINTER_MODE_HOST && m->pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
        return "alpha as a vector";
    if (m->op_c != CUBLAS_OP_N || m->fill != CUBLAS_FILL_MODE_FULL)
        return "a transposed or triangular C";
    bool sums_floats = call->a->type == ELEMENT_F32 || call->a->type == ELEMENT_F16 || call->a->type == ELEMENT_BF16;
    if (m->epilogue != LIGHT_DEFAULT && !sums_floats)
        return "an epilogue of this type";
    if ((m->epilogue & gradients) && m->bias_type >= 0 && (uint32_t)m->bias_type != call->d->type)
        return "a bias gradient of another type than D";
    if ((m->epilogue & gradients) && call->d->n_batches > 1)
        return "bias gradients of batches";
    if ((m->epilogue & (LIGHT_A_GRADIENT | LIGHT_B_GRADIENT)) && call->a->type != call->d->type)
        return "a bias gradient of an operand of another type than D";
    return NULL;
}

/* Fills in the product of the descriptors, without pointers and scalars. */
static void describe(const struct call *call, struct product *p) {
    const struct light_matmul *m = call->matmul;
    *p = (struct product){.m = (long long)call->d->rows,
                          .n = (long long)call->d->cols,
                          .k = (long long)cols_of(call->a, m->op_a),
                          .n_batches = call->d->n_batches,
                          .fill = FILL_ALL};
    p->a = matrix_of(NULL, call->a, m->op_a);
    p->b = matrix_of(NULL, call->b, m->op_b);
    p->c = matrix_of(NULL, call->c, CUBLAS_OP_N);
    p->d = matrix_of(NULL, call->d, CUBLAS_OP_N);
    p->alpha.type = p->beta.type = m->scale;
    static const struct {
        uint32_t light;
        int own;
    } parts[] = {{LIGHT_BIAS, EPILOGUE_BIAS},
                 {LIGHT_RELU, EPILOGUE_RELU},
                 {LIGHT_GELU, EPILOGUE_GELU},
                 {LIGHT_RELU_BACK, EPILOGUE_RELU_BACK},
                 {LIGHT_GELU_BACK, EPILOGUE_GELU_BACK}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        p->epilogue |= m->epilogue & parts[i].light ? parts[i].own : 0;
    if ((m->epilogue & LIGHT_AUX) && (m->epilogue & (LIGHT_RELU | LIGHT_GELU)))
        p->epilogue |= EPILOGUE_KEEP;
    int d_type = (int)call->d->type;
    p->bias = cublas_matrix(m->bias, m->bias_type < 0 ? d_type : m->bias_type, 0);
    p->bias.batch = m->bias_batch;
    p->kept = cublas_matrix(m->aux, m->aux_type < 0 ? d_type : m->aux_type, m->aux_ld);
    p->kept.batch = m->aux_batch;
}

/* The sums of the rows of a matrix: its product with a vector of ones, which is one number with a step of zero. */
static cublasStatus_t sum_rows(struct cublasContext *handle, struct matrix matrix, long long m, long long n, void *to) {
    char *one = cublas_scratch(handle, 16);
    if (!one)
        return CUBLAS_STATUS_ALLOC_FAILED;
    static const unsigned single = 0x3f800000, half = 0x3c00, bfloat = 0x3f80;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)one;
    CUresult result = matrix.type == ELEMENT_F32   ? cuMemsetD32Async(at, single, 1, handle->stream)
                      : matrix.type == ELEMENT_F16 ? cuMemsetD16Async(at, (unsigned short)half, 1, handle->stream)
                                                   : cuMemsetD16Async(at, (unsigned short)bfloat, 1, handle->stream);
    if (result != CUDA_SUCCESS)
        return cublas_status(result);
    struct matrix_vector job = {.a = matrix, .m = m, .n = n, .n_batches = 1, .alpha.re = 1};
    job.x = (struct vector){.base = one, .type = matrix.type};
    job.y = (struct vector){.base = to, .step = 1, .type = matrix.type};
    return cublas_times(handle, &job);
}

static cublasStatus_t make_gradients(struct cublasContext *handle, const struct light_matmul *m,
                                     const struct product *p) {
    struct matrix b = p->b;
    b.row = p->b.col;
    b.col = p->b.row;
    if (m->epilogue & LIGHT_BIAS_GRADIENT)
        return sum_rows(handle, p->d, p->m, p->n, m->bias);
    if (m->epilogue & LIGHT_A_GRADIENT)
        return sum_rows(handle, p->a, p->m, p->k, m->bias);
    if (m->epilogue & LIGHT_B_GRADIENT)
        return sum_rows(handle, b, p->n, p->k, m->bias);
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasLtMatmul, cublasLtHandle_t light_handle, cublasLtMatmulDesc_t matmul, const void *alpha, const void *a,
           cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
           const void *c, cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
           const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t workspace_bytes, cudaStream_t stream) {
    struct cublasContext *handle = (struct cublasContext *)light_handle;
    (void)algorithm, (void)workspace, (void)workspace_bytes;
    CUBLAS_ENTER(handle);
    const struct call call = {(const void *)matmul, layout_of(a_layout), layout_of(b_layout), layout_of(c_layout),
                              layout_of(d_layout)};
    if (!is_valid(&call) || !alpha || !beta || !d)
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct light_matmul *m = call.matmul;
    uint32_t uses_bias = LIGHT_BIAS | LIGHT_BIAS_GRADIENT | LIGHT_A_GRADIENT | LIGHT_B_GRADIENT;
    if ((!m->bias && (m->epilogue & uses_bias)) || (!m->aux && (m->epilogue & LIGHT_AUX)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (missing(&call))
        return CUBLAS_REFUSE(__func__, "%s is not supported", missing(&call));
    struct product p;
    describe(&call, &p);
    bool is_on_device = m->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    p.alpha = cublas_scalar_in(is_on_device, alpha, m->scale);
    p.beta = cublas_scalar_in(is_on_device, beta, m->scale);
    p.a.base = (void *)(uintptr_t)a;
    p.b.base = (void *)(uintptr_t)b;
    p.c.base = (void *)(uintptr_t)c;
    p.d.base = d;
    if (!c && !cublas_is_zero(&p.beta))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct cublasContext own = *handle; /* the call's stream; modes of a cuBLAS handle have no effect here */
    own.stream = stream;
    own.math_mode = CUBLAS_DEFAULT_MATH;
    cublasStatus_t status = cublas_product(&own, __func__, &p, m->compute);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = make_gradients(&own, m, &p);
    handle->scratch = own.scratch;
    handle->scratch_bytes = own.scratch_bytes;
    return status;
}

/* ---- Algorithms: there is one ---------------------------------------------------------------------------------------
 */

static bool is_supported(const struct call *call) {
    struct product p;
    if (!is_valid(call) || missing(call))
        return false;
    describe(call, &p);
    return cublas_has_product(&p, call->matmul->compute);
}

static cublasLtMatmulAlgo_t only_algorithm(void) {
    cublasLtMatmulAlgo_t algorithm = {{0}};
    struct light_algorithm contents = {.split_k = 1};
    memcpy(&algorithm, &contents, sizeof(contents));
    return algorithm;
}

CUBLAS_API(cublasLtMatmulAlgoGetHeuristic, cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
           cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
           cublasLtMatmulPreference_t preference, int n_wanted, cublasLtMatmulHeuristicResult_t results[],
           int *n_found) {
    CUBLAS_ENTER((struct cublasContext *)handle);
    if (!preference || n_wanted < 1 || !results || !n_found || !matmul || !a || !b || !c || !d)
        return CUBLAS_STATUS_INVALID_VALUE;
    *n_found = 0;
    const struct call call = {(const void *)matmul, layout_of(a), layout_of(b), layout_of(c), layout_of(d)};
    if (!is_supported(&call))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    memset(&results[0], 0, sizeof(results[0]));
    results[0].algo = only_algorithm();
    results[0].wavesCount = 1;
    *n_found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasLtMatmulAlgoCheck, cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t a,
           cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
           const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulHeuristicResult_t *result) {
    CUBLAS_ENTER((struct cublasContext *)handle);
    const struct call call = {(const void *)matmul, layout_of(a), layout_of(b), layout_of(c), layout_of(d)};
    if (!algorithm || !result)
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(result, 0, sizeof(*result));
    result->algo = *algorithm;
    result->wavesCount = 1;
    return is_supported(&call) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

CUBLAS_API(cublasLtMatmulAlgoGetIds, cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
           cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int n_wanted, int ids[],
           int *n_found) {
    CUBLAS_ENTER((struct cublasContext *)handle);
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (n_wanted < 1 || !ids)
        return CUBLAS_STATUS_INVALID_VALUE;
    ids[0] = 0;
    if (n_found)
        *n_found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API(cublasLtMatmulAlgoInit, cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale,
           cudaDataType_t a, cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int id,
           cublasLtMatmulAlgo_t *algorithm) {
    CUBLAS_ENTER((struct cublasContext *)handle);
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!algorithm || id != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    *algorithm = only_algorithm();
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- C = alpha op(A) + beta op(B) -------------------------------------------------------------------------------- */

CUBLAS_API(cublasLtMatrixTransform, cublasLtHandle_t light_handle, cublasLtMatrixTransformDesc_t transform,
           const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout, const void *beta, const void *b,
           cublasLtMatrixLayout_t b_layout, void *c, cublasLtMatrixLayout_t c_layout, cudaStream_t stream) {
    struct cublasContext *handle = (struct cublasContext *)light_handle;
    CUBLAS_ENTER(handle);
    const struct light_transform *t = (const void *)transform;
    const struct light_layout *la = layout_of(a_layout), *lb = b_layout ? layout_of(b_layout) : layout_of(c_layout),
                              *lc = layout_of(c_layout);
    if (!t || !la || !lc || !alpha || !c || !is_layout(la) || !is_layout(lb) || !is_layout(lc) ||
        rows_of(la, t->op_a) != lc->rows || cols_of(la, t->op_a) != lc->cols)
        return CUBLAS_STATUS_INVALID_VALUE;
    bool has_kernel =
        la->type == ELEMENT_F32 || la->type == ELEMENT_F64 || la->type == ELEMENT_C32 || la->type == ELEMENT_C64;
    if (!has_kernel || la->type != lc->type || (b && lb->type != lc->type) || !has_known_order(la) ||
        !has_known_order(lb) || !has_known_order(lc) || lc->n_batches > 1)
        return CUBLAS_REFUSE(__func__, "these types, orders or batches are not supported");
    struct matrix_sum job = {.m = (long long)lc->rows, .n = (long long)lc->cols};
    bool is_on_device = t->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    job.a = matrix_of(a, la, t->op_a);
    job.b = matrix_of(b, lb, t->op_b);
    job.c = matrix_of(c, lc, CUBLAS_OP_N);
    job.alpha = cublas_scalar_in(is_on_device, alpha, t->scale);
    if (b && beta)
        job.beta = cublas_scalar_in(is_on_device, beta, t->scale);
    struct cublasContext own = *handle;
    own.stream = stream;
    return cublas_each_element(&own, "add", &job);
}
