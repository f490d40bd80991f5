/* Matrix products of every type against sums in double precision: transposes, odd sizes, leading dimensions, alpha and
 * beta, batches, host and device scalars. With an argument it prints sums of the results too, to compare two machines.
 *
 * The bound of an element is (k + 8) u S + v |d|, where S = |alpha| sum |a b| + |beta c|, u is the rounding of sums
 * (2^-24 for f32, 2^-22 where tensor cores may truncate, 2^-10 for tf32 and sums in f16, 2^-53 for f64) and v the
 * rounding of the output. Integers are exact. */
#include "check.h"
#include "cublas.h"

enum { LARGEST = 160 * 160 };

struct kind {
    const char *name;
    cudaDataType input, output;
    cublasComputeType_t compute;
    double sum_rounding, output_rounding;
};

static const struct kind kinds[] = {
    {"f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 0x1p-24, 0},
    {"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 0x1p-10, 0},
    {"f64", CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 0x1p-53, 0},
    {"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 0x1p-22, 0x1p-11},
    {"f16 to f32", CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 0x1p-22, 0},
    {"f16 in f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 0x1p-10, 0x1p-11},
    {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 0x1p-22, 0x1p-8},
    {"bf16 to f32", CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 0x1p-22, 0},
    {"i8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0, 0},
    {"c32", CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F, 0x1p-23, 0},
    {"c64", CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F, 0x1p-52, 0},
};

static size_t bytes_of(cudaDataType type) {
    switch (type) {
    case CUDA_R_8I:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    default:
        return 4;
    }
}

static int is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

/* Exact for the numbers here. */
static uint16_t to_half(double x) {
    if (x == 0)
        return 0;
    int exponent;
    double fraction = frexp(fabs(x), &exponent);
    return (uint16_t)((x < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | ((int)(fraction * 2048) & 0x3ff));
}

static double from_half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double value = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    return bits & 0x8000 ? -value : value;
}

static void put(void *array, cudaDataType type, size_t at, double re, double im) {
    float single = (float)re;
    uint32_t bits;
    memcpy(&bits, &single, 4);
    switch (type) {
    case CUDA_R_8I:
        ((int8_t *)array)[at] = (int8_t)re;
        break;
    case CUDA_R_32I:
        ((int32_t *)array)[at] = (int32_t)re;
        break;
    case CUDA_R_16F:
        ((uint16_t *)array)[at] = to_half(re);
        break;
    case CUDA_R_16BF:
        ((uint16_t *)array)[at] = (uint16_t)(bits >> 16);
        break;
    case CUDA_R_64F:
        ((double *)array)[at] = re;
        break;
    case CUDA_C_32F:
        ((float *)array)[2 * at] = single, ((float *)array)[2 * at + 1] = (float)im;
        break;
    case CUDA_C_64F:
        ((double *)array)[2 * at] = re, ((double *)array)[2 * at + 1] = im;
        break;
    default:
        ((float *)array)[at] = single;
    }
}

static double get(const void *array, cudaDataType type, size_t at, int part) {
    uint32_t bits;
    float single;
    if (part && !is_complex(type))
        return 0;
    switch (type) {
    case CUDA_R_8I:
        return ((const int8_t *)array)[at];
    case CUDA_R_32I:
        return ((const int32_t *)array)[at];
    case CUDA_R_16F:
        return from_half(((const uint16_t *)array)[at]);
    case CUDA_R_16BF:
        bits = (uint32_t)((const uint16_t *)array)[at] << 16;
        memcpy(&single, &bits, 4);
        return single;
    case CUDA_R_64F:
        return ((const double *)array)[at];
    case CUDA_C_32F:
        return ((const float *)array)[2 * at + (size_t)part];
    case CUDA_C_64F:
        return ((const double *)array)[2 * at + (size_t)part];
    default:
        return ((const float *)array)[at];
    }
}

static void fill(void *array, cudaDataType type, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double re = next_number(), im = next_number();
        if (type == CUDA_R_8I || type == CUDA_R_32I)
            re *= 64;
        put(array, type, i, re, im);
    }
}

/* ---- One product ------------------------------------------------------------------------------------------------- */

struct scalars {
    double alpha, beta;
};

struct problem {
    cublasOperation_t op_a, op_b;
    int m, n, k, lda, ldb, ldc;
    struct scalars scalars;
};

/* The scalars in the type that the compute type asks for. */
static void put_scalar(const struct kind *kind, void *to, double value) {
    cudaDataType type = kind->compute == CUBLAS_COMPUTE_16F   ? CUDA_R_16F
                        : kind->compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
                        : is_complex(kind->input)             ? kind->input
                        : kind->compute == CUBLAS_COMPUTE_64F ? CUDA_R_64F
                                                              : CUDA_R_32F;
    put(to, type, 0, value, value / 2);
}

/* Compares one matrix with the reference; returns the sum of its elements. */
static double compare(const struct kind *kind, const struct problem *p, const void *a, const void *b, const void *c,
                      const void *d) {
    double total = 0;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->ldc; i++) {
            size_t at = (size_t)i + (size_t)j * (size_t)p->ldc;
            if (i >= p->m) { /* between two columns: unchanged */
                EXPECT(get(d, kind->output, at, 0) == get(c, kind->output, at, 0));
                continue;
            }
            double sum[2] = {0, 0}, size = 0;
            for (int x = 0; x < p->k; x++) {
                size_t a_at = p->op_a == CUBLAS_OP_N ? (size_t)(i + x * p->lda) : (size_t)(x + i * p->lda);
                size_t b_at = p->op_b == CUBLAS_OP_N ? (size_t)(x + j * p->ldb) : (size_t)(j + x * p->ldb);
                double ar = get(a, kind->input, a_at, 0), ai = get(a, kind->input, a_at, 1);
                double br = get(b, kind->input, b_at, 0), bi = get(b, kind->input, b_at, 1);
                ai = p->op_a == CUBLAS_OP_C ? -ai : ai;
                bi = p->op_b == CUBLAS_OP_C ? -bi : bi;
                sum[0] += ar * br - ai * bi;
                sum[1] += ar * bi + ai * br;
                size += hypot(ar, ai) * hypot(br, bi);
            }
            double alpha = p->scalars.alpha, beta = p->scalars.beta, im = is_complex(kind->input) ? 0.5 : 0;
            double cr = get(c, kind->output, at, 0), ci = get(c, kind->output, at, 1), want[2];
            want[0] = alpha * (sum[0] - im * sum[1]) + beta * (cr - im * ci);
            want[1] = alpha * (sum[1] + im * sum[0]) + beta * (ci + im * cr);
            size = 1.2 * (fabs(alpha) * size + fabs(beta) * hypot(cr, ci));
            for (int part = 0; part < 1 + is_complex(kind->input); part++) {
                double got = get(d, kind->output, at, part);
                EXPECT(fabs(got - want[part]) <=
                       (p->k + 8) * kind->sum_rounding * size + kind->output_rounding * fabs(want[part]));
                total += got * ((i * 7 + j * 3) % 11 - 5);
            }
        }
    return total;
}

enum { BATCHES = 3 };
static int is_card, n_unsupported;
enum way { PLAIN, DEVICE_SCALARS, STRIDED, ARRAYS };

static double run(cublasHandle_t handle, const struct kind *kind, const struct problem *p, enum way way) {
    int n_batches = way == STRIDED || way == ARRAYS ? BATCHES : 1;
    size_t in = bytes_of(kind->input), out = bytes_of(kind->output);
    size_t a_n = (size_t)(p->lda * (p->op_a == CUBLAS_OP_N ? p->k : p->m)) + 3;
    size_t b_n = (size_t)(p->ldb * (p->op_b == CUBLAS_OP_N ? p->n : p->k)) + 1, c_n = (size_t)(p->ldc * p->n) + 2;
    if (way == ARRAYS) { /* NVIDIA's kernels need aligned pointers */
        a_n = (a_n + 15) & ~(size_t)15;
        b_n = (b_n + 15) & ~(size_t)15;
        c_n = (c_n + 15) & ~(size_t)15;
    }
    char *a = (char *)malloc(a_n * in * BATCHES), *b = (char *)malloc(b_n * in * BATCHES);
    char *c = (char *)malloc(c_n * out * BATCHES), *d = (char *)malloc(c_n * out * BATCHES), scalars[2][16];
    fill(a, kind->input, a_n * BATCHES);
    fill(b, kind->input, b_n * BATCHES);
    fill(c, kind->output, c_n * BATCHES);
    put_scalar(kind, scalars[0], p->scalars.alpha);
    put_scalar(kind, scalars[1], p->scalars.beta);
    char *on_a = (char *)to_device(a, a_n * in * BATCHES), *on_b = (char *)to_device(b, b_n * in * BATCHES);
    char *on_c = (char *)to_device(c, c_n * out * BATCHES), *alpha = scalars[0], *beta = scalars[1];
    char *on_scalars = (char *)to_device(scalars, sizeof(scalars));
    if (way == DEVICE_SCALARS) {
        alpha = on_scalars;
        beta = on_scalars + 16;
        NEED(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    }
    const cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
    int status;
    if (way == STRIDED) {
        status =
            cublasGemmStridedBatchedEx(handle, p->op_a, p->op_b, p->m, p->n, p->k, alpha, on_a, kind->input, p->lda,
                                       (long long)a_n, on_b, kind->input, p->ldb, (long long)b_n, beta, on_c,
                                       kind->output, p->ldc, (long long)c_n, BATCHES, kind->compute, algorithm);
    } else if (way == ARRAYS) {
        void *arrays[3][BATCHES];
        for (int i = 0; i < BATCHES; i++) {
            arrays[0][i] = on_a + (size_t)i * a_n * in;
            arrays[1][i] = on_b + (size_t)i * b_n * in;
            arrays[2][i] = on_c + (size_t)i * c_n * out;
        }
        void **on_arrays = (void **)to_device(arrays, sizeof(arrays));
        status =
            cublasGemmBatchedEx(handle, p->op_a, p->op_b, p->m, p->n, p->k, alpha, (const void *const *)on_arrays,
                                kind->input, p->lda, (const void *const *)(on_arrays + BATCHES), kind->input, p->ldb,
                                beta, on_arrays + 2 * BATCHES, kind->output, p->ldc, BATCHES, kind->compute, algorithm);
        NEED(cudaDeviceSynchronize());
        NEED(cudaFree(on_arrays));
    } else {
        status = cublasGemmEx(handle, p->op_a, p->op_b, p->m, p->n, p->k, alpha, on_a, kind->input, p->lda, on_b,
                              kind->input, p->ldb, beta, on_c, kind->output, p->ldc, kind->compute, algorithm);
    }
    int is_lacking = is_card && kind->input == CUDA_R_8I && status == CUBLAS_STATUS_NOT_SUPPORTED;
    if (!is_lacking)
        NEED(status);
    n_unsupported += is_lacking;
    from_device(d, on_c, c_n * out * BATCHES);
    NEED(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    double total = 0;
    for (int i = 0; i < n_batches && !is_lacking; i++)
        total += compare(kind, p, a + (size_t)i * a_n * in, b + (size_t)i * b_n * in, c + (size_t)i * c_n * out,
                         d + (size_t)i * c_n * out);
    char *host[] = {a, b, c, d}, *device[] = {on_a, on_b, on_c, on_scalars};
    for (int i = 0; i < 4; i++) {
        free(host[i]);
        NEED(cudaFree(device[i]));
    }
    return total;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static const int sizes[][3] = {{1, 1, 1}, {5, 7, 3}, {33, 18, 40}, {64, 64, 32}, {70, 65, 67}};
static const struct scalars all_scalars[] = {{1, 0}, {0.5, 1}, {-1, 2}, {1, 0}, {2, -0.5}};

/* Integers need scalars that are integers, and NVIDIA's library leading dimensions that are multiples of four. */
static struct problem problem(const struct kind *kind, int size, int layout, struct scalars scalars) {
    static const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    struct problem p = {operations[layout % 3],
                        operations[layout / 3],
                        sizes[size][0],
                        sizes[size][1],
                        sizes[size][2],
                        0,
                        0,
                        0,
                        scalars};
    int pad = size % 3;
    p.lda = (p.op_a == CUBLAS_OP_N ? p.m : p.k) + pad;
    p.ldb = (p.op_b == CUBLAS_OP_N ? p.k : p.n) + pad;
    p.ldc = p.m + pad;
    if (kind->input == CUDA_R_8I) {
        p.lda = (p.lda + 3) & ~3;
        p.ldb = (p.ldb + 3) & ~3;
        p.scalars.alpha = ceil(p.scalars.alpha);
        p.scalars.beta = ceil(p.scalars.beta);
    }
    return p;
}

int main(int argc, char **argv) {
    cublasHandle_t handle;
    is_card = is_on_card(argc, argv);
    NEED(cublasCreate(&handle));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (int size = 0; size < 5; size++) {
            double total = 0;
            for (int layout = 0; layout < 9; layout++) {
                if (!is_complex(kinds[i].input) && (layout % 3 == 2 || layout / 3 == 2))
                    continue;
                enum way way = (enum way)((size + layout) % 4);
                if (kinds[i].input == CUDA_R_8I && way == ARRAYS) /* not in NVIDIA's library */
                    way = PLAIN;
                struct problem p = problem(&kinds[i], size, layout, all_scalars[(size + layout) % 5]);
                total += run(handle, &kinds[i], &p, way);
            }
            if (argc > 1)
                printf("%s %dx%dx%d %.9g\n", kinds[i].name, sizes[size][0], sizes[size][1], sizes[size][2], total);
        }
    NEED(cublasDestroy(handle));
    if (n_unsupported)
        printf("products: %d of int8 are not supported\n", n_unsupported);
    return finish("products");
}
