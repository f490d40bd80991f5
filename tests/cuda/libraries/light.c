/* cublasLt: products with biases, relu and gelu, what they keep for the way back, gradients of biases, row order,
 * batches and heuristics, against sums in double precision. Bounds: 2^-18 of the sum of absolute terms for float, 2^-9
 * for f16 outputs. */
#include "check.h"

#ifdef __NVCC__
#include <cublasLt.h>
#include <cuda_fp16.h>
#else
#include "cublas/lt/light.h"

#define FUNCTION(name, ...) cublasStatus_t name(__VA_ARGS__);
FUNCTION(cublasLtCreate, cublasLtHandle_t *)
FUNCTION(cublasLtDestroy, cublasLtHandle_t)
FUNCTION(cublasLtMatmulDescCreate, cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t)
FUNCTION(cublasLtMatmulDescDestroy, cublasLtMatmulDesc_t)
FUNCTION(cublasLtMatmulDescSetAttribute, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t)
FUNCTION(cublasLtMatmulDescGetAttribute, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, void *, size_t, size_t *)
FUNCTION(cublasLtMatrixLayoutCreate, cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t)
FUNCTION(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayout_t)
FUNCTION(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void *,
         size_t)
FUNCTION(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreference_t *)
FUNCTION(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreference_t)
FUNCTION(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
         const void *, size_t)
FUNCTION(cublasLtMatmulAlgoGetHeuristic, cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
         cublasLtMatmulHeuristicResult_t *, int *)
FUNCTION(cublasLtMatmul, cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t,
         const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *,
         cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t)
#endif

enum { M = 64, N = 40, K = 48, BATCHES = 2, AUX_LD = 128, WORKSPACE = 4 << 20 };
enum {
    DEFAULT = 1,
    RELU = 2,
    BIAS = 4,
    GELU = 32,
    AUX = 128,
    DRELU_BGRAD = 8 | 16 | 128,
    DGELU = 64 | 128,
    BGRADB = 512
};

static cublasLtHandle_t handle;
static float a[M * K * BATCHES], b[K * N * BATCHES], c[M * N * BATCHES], bias[M], d[M * N * BATCHES];
static float aux[AUX_LD * N], gradient[M];
static unsigned char bits[AUX_LD / 8 * N];

struct layouts {
    cublasLtMatrixLayout_t a, b, c;
};

/* A is transposed: K x M in memory. */
static struct layouts make_layouts(int is_by_rows, int n_batches) {
    struct layouts layouts;
    int32_t order = is_by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    int64_t offsets[3] = {M * K, K * N, M * N};
    NEED(cublasLtMatrixLayoutCreate(&layouts.a, CUDA_R_32F, K, M, is_by_rows ? M : K));
    NEED(cublasLtMatrixLayoutCreate(&layouts.b, CUDA_R_32F, K, N, is_by_rows ? N : K));
    NEED(cublasLtMatrixLayoutCreate(&layouts.c, CUDA_R_32F, M, N, is_by_rows ? N : M));
    cublasLtMatrixLayout_t all[3] = {layouts.a, layouts.b, layouts.c};
    for (int i = 0; i < 3; i++) {
        NEED(cublasLtMatrixLayoutSetAttribute(all[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)));
        NEED(cublasLtMatrixLayoutSetAttribute(all[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n_batches,
                                              sizeof(n_batches)));
        NEED(cublasLtMatrixLayoutSetAttribute(all[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offsets[i],
                                              sizeof(offsets[i])));
    }
    return layouts;
}

static void *on_a, *on_b, *on_c, *on_d, *on_bias, *on_aux, *on_gradient, *workspace;

/* Runs the product with the first algorithm of the heuristics. The results are in d, aux or bits, and gradient. Returns
 * whether the library supports the product. */
static int run(uint32_t epilogue, int is_by_rows, int n_batches, float alpha, float beta) {
    cublasLtMatmulDesc_t matmul;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    struct layouts layouts = make_layouts(is_by_rows, n_batches);
    cublasOperation_t transposed = CUBLAS_OP_T;
    int64_t ld = epilogue & (GELU | 64) ? M : AUX_LD;
    size_t room = WORKSPACE;
    int n_found = 0;
    NEED(cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    NEED(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)));
    NEED(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
    if (epilogue & (BIAS | 16 | BGRADB)) {
        void *at = epilogue & BIAS ? on_bias : on_gradient;
        NEED(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at, sizeof(at)));
    }
    if (epilogue & AUX) {
        NEED(
            cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &on_aux, sizeof(on_aux)));
        NEED(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof(ld)));
    }
    NEED(cublasLtMatmulPreferenceCreate(&preference));
    NEED(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room,
                                              sizeof(room)));
    int status = cublasLtMatmulAlgoGetHeuristic(handle, matmul, layouts.a, layouts.b, layouts.c, layouts.c, preference,
                                                1, &result, &n_found);
    if (!status && n_found == 1)
        status = cublasLtMatmul(handle, matmul, &alpha, on_a, layouts.a, on_b, layouts.b, &beta, on_c, layouts.c, on_d,
                                layouts.c, &result.algo, workspace, WORKSPACE, NULL);
    int is_supported = !status && n_found == 1;
    EXPECT(is_supported);
    if (!is_supported)
        fprintf(stderr, "epilogue %u: status %d, %d algorithms\n", epilogue, status, n_found);
    from_device(d, on_d, sizeof(d));
    NEED(cublasLtMatmulPreferenceDestroy(preference));
    NEED(cublasLtMatmulDescDestroy(matmul));
    NEED(cublasLtMatrixLayoutDestroy(layouts.a));
    NEED(cublasLtMatrixLayoutDestroy(layouts.b));
    NEED(cublasLtMatrixLayoutDestroy(layouts.c));
    return is_supported;
}

static int near(double got, double want, double size) { return fabs(got - want) <= 0x1p-18 * size; }

static size_t place(int i, int j, int rows, int cols, int is_by_rows) {
    return (size_t)(is_by_rows ? i * cols + j : i + j * rows);
}

/* alpha A'B + beta C at (i, j), and the sum of the absolute terms. */
static double value_at(int i, int j, int batch, int is_by_rows, float alpha, float beta, double *size) {
    double sum = 0;
    *size = 1;
    for (int k = 0; k < K; k++) {
        double term = (double)a[place(k, i, K, M, is_by_rows) + (size_t)(batch * M * K)] *
                      b[place(k, j, K, N, is_by_rows) + (size_t)(batch * K * N)];
        sum += term;
        *size += fabs(term);
    }
    double before = c[place(i, j, M, N, is_by_rows) + (size_t)(batch * M * N)];
    *size = fabs(alpha) * *size + fabs(beta * before);
    return alpha * sum + beta * before;
}

static double gelu(double x) { return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
static double gelu_slope(double x) {
    double t = tanh(0.7978845608028654 * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

static void test_forward(uint32_t epilogue, int is_by_rows, int n_batches, float alpha, float beta) {
    if (!run(epilogue, is_by_rows, n_batches, alpha, beta))
        return;
    if (epilogue & AUX) {
        from_device(aux, on_aux, sizeof(aux));
        memcpy(bits, aux, sizeof(bits));
    }
    for (int batch = 0; batch < n_batches; batch++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                double size, x = value_at(i, j, batch, is_by_rows, alpha, beta, &size);
                x += epilogue & BIAS ? bias[i] : 0;
                double want = epilogue & RELU ? fmax(x, 0) : epilogue & GELU ? gelu(x) : x;
                EXPECT(near(d[place(i, j, M, N, is_by_rows) + (size_t)(batch * M * N)], want, 2 * size));
                if ((epilogue & AUX) && (epilogue & GELU))
                    EXPECT(near(aux[i + j * M], x, 2 * size));
                if ((epilogue & AUX) && (epilogue & RELU) && fabs(x) > 1e-3)
                    EXPECT((bits[(i + j * AUX_LD) / 8] >> (i % 8) & 1) == (x > 0));
            }
}

/* The way back uses what the way forward has kept. */
static void test_backward(uint32_t epilogue) {
    double sums[M] = {0}, sizes[M] = {0};
    if (!run(epilogue, 0, 1, 1, 0))
        return;
    from_device(gradient, on_gradient, sizeof(gradient));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double size, x = value_at(i, j, 0, 0, 1, 0, &size);
            double slope = epilogue & 8 ? bits[(i + j * AUX_LD) / 8] >> (i % 8) & 1 : gelu_slope(aux[i + j * M]);
            EXPECT(near(d[i + j * M], x * slope, 2 * size));
            sums[i] += x * slope;
            sizes[i] += 2 * size;
        }
    for (int i = 0; i < M && epilogue & 16; i++)
        EXPECT(near(gradient[i], sums[i], sizes[i]));
}

static void test_gradient_of_b(void) { /* NVIDIA's library has it for other layouts only */
    if (!run(BGRADB, 0, 1, 1, 0))
        return;
    from_device(gradient, on_gradient, sizeof(gradient));
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = 0; k < K; k++)
            sum += b[k + j * K];
        EXPECT(near(gradient[j], sum, K));
    }
}

int main(int argc, char **argv) {
    for (int i = 0; i < M * K * BATCHES; i++)
        a[i] = (float)next_number();
    for (int i = 0; i < K * N * BATCHES; i++)
        b[i] = (float)next_number();
    for (int i = 0; i < M * N * BATCHES; i++)
        c[i] = (float)next_number();
    for (int i = 0; i < M; i++)
        bias[i] = (float)next_number();
    on_a = to_device(a, sizeof(a));
    on_b = to_device(b, sizeof(b));
    on_c = to_device(c, sizeof(c));
    on_d = to_device(c, sizeof(c));
    on_bias = to_device(bias, sizeof(bias));
    on_aux = to_device(aux, sizeof(aux));
    on_gradient = to_device(gradient, sizeof(gradient));
    NEED(cudaMalloc(&workspace, WORKSPACE));
    NEED(cublasLtCreate(&handle));
    test_forward(DEFAULT, 0, 1, 1, 0);
    test_forward(DEFAULT, 1, 1, 0.5f, -2);
    test_forward(DEFAULT, 0, BATCHES, 2, 1);
    test_forward(BIAS, 0, 1, 1, 0);
    test_forward(RELU | BIAS, 0, 1, 1, 1);
    test_forward(GELU, 0, 1, 1, 0);
    test_forward(GELU | BIAS, 0, 1, 1, 0);
    test_forward(GELU | AUX | BIAS, 0, 1, 1, 0);
    test_backward(DGELU);
    test_forward(RELU | AUX | BIAS, 0, 1, 1, 0);
    test_backward(DRELU_BGRAD);
    if (!is_on_card(argc, argv))
        test_gradient_of_b();
    if (argc > 1)
        printf("d %.9g %.9g %.9g, gradient %.9g\n", d[0], d[1], d[M * N - 1], gradient[0]);
    cublasLtMatmulDesc_t matmul;
    int32_t compute = 0;
    size_t bytes = 0;
    NEED(cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    NEED(cublasLtMatmulDescGetAttribute(matmul, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute, sizeof(compute), &bytes));
    EXPECT(compute == CUBLAS_COMPUTE_32F && bytes == 4);
    EXPECT(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &compute, 1) ==
           CUBLAS_STATUS_INVALID_VALUE);
    NEED(cublasLtMatmulDescDestroy(matmul));
    NEED(cublasLtDestroy(handle));
    return finish("light");
}
