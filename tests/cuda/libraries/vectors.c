/* cuBLAS handles and functions of vectors against loops on the host: steps of both signs, host and device results,
 * copies between host and device, and calls that must fail. Sums are compared within 2^-20 (float) and 2^-48 (double)
 * of the sum of their absolute terms. */
#include "check.h"
#include "cublas.h"

enum { N = 5003, ROOM = 3 * N };

static cublasHandle_t handle;

static int is_near(double got, double want, double size, double rounding) {
    return fabs(got - want) <= rounding * size;
}

/* Element i of a vector of n elements. */
static int at(int i, int n, int step) { return step < 0 ? (i - n + 1) * step : i * step; }

/* ---- Each element by itself -------------------------------------------------------------------------------------- */

#define TEST_ELEMENTS(S, T, n, xs, ys)                                                                                 \
    static void test_##S##_elements(void) {                                                                            \
        static T x[ROOM], y[ROOM], got[ROOM];                                                                          \
        T alpha = (T)-1.5;                                                                                             \
        for (int i = 0; i < ROOM; i++) {                                                                               \
            x[i] = (T)next_number();                                                                                   \
            y[i] = (T)next_number();                                                                                   \
        }                                                                                                              \
        T *on_x = (T *)to_device(x, sizeof(x)), *on_y = (T *)to_device(y, sizeof(y));                                  \
        NEED(cublas##S##axpy_v2(handle, n, &alpha, on_x, xs, on_y, ys));                                               \
        from_device(got, on_y, sizeof(got));                                                                           \
        for (int i = 0; i < n; i++)                                                                                    \
            y[at(i, n, ys)] += alpha * x[at(i, n, xs)];                                                                \
        EXPECT(memcmp(got, y, sizeof(y)) == 0); /* exact: the numbers are short */                                     \
        NEED(cublas##S##scal_v2(handle, n, &alpha, on_x, 2));                                                          \
        from_device(got, on_x, sizeof(got));                                                                           \
        for (int i = 0; i < n; i++)                                                                                    \
            x[2 * i] *= alpha;                                                                                         \
        EXPECT(memcmp(got, x, sizeof(x)) == 0);                                                                        \
        NEED(cublas##S##swap_v2(handle, n, on_x, xs, on_y, ys));                                                       \
        NEED(cublas##S##copy_v2(handle, n, on_x, xs, on_y, ys));                                                       \
        from_device(got, on_y, sizeof(got));                                                                           \
        EXPECT(memcmp(got, y, sizeof(y)) == 0);                                                                        \
        from_device(got, on_x, sizeof(got));                                                                           \
        for (int i = 0; i < n; i++)                                                                                    \
            EXPECT(got[at(i, n, xs)] == y[at(i, n, ys)]);                                                              \
        NEED(cudaFree(on_x));                                                                                          \
        NEED(cudaFree(on_y));                                                                                          \
    }
TEST_ELEMENTS(S, float, N, 2, -3)
TEST_ELEMENTS(D, double, N, 1, 1)

static void test_rotation(void) {
    float x[4] = {1, 2, 3, 4}, y[4] = {-2, 5, 0, 1}, got[2][4], a = 3, b = 4, c, s;
    NEED(cublasSrotg_v2(handle, &a, &b, &c, &s));
    EXPECT(is_near(a, 5, 5, 0x1p-20) && is_near(c, 0.6, 1, 0x1p-20) && is_near(s, 0.8, 1, 0x1p-20));
    EXPECT(is_near(b, 1 / 0.6, 2, 0x1p-20));
    float *on_x = (float *)to_device(x, sizeof(x)), *on_y = (float *)to_device(y, sizeof(y));
    NEED(cublasSrot_v2(handle, 4, on_x, 1, on_y, 1, &c, &s));
    from_device(got[0], on_x, sizeof(x));
    from_device(got[1], on_y, sizeof(y));
    for (int i = 0; i < 4; i++) {
        EXPECT(is_near(got[0][i], 0.6 * x[i] + 0.8 * y[i], 10, 0x1p-20));
        EXPECT(is_near(got[1][i], 0.6 * y[i] - 0.8 * x[i], 10, 0x1p-20));
    }
    NEED(cudaFree(on_x));
    NEED(cudaFree(on_y));
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

static void test_reductions(void) {
    static float x[N], y[N];
    static double z[N];
    double dot = 0, size = 0, squares = 0, sum = 0, doubles = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)next_number();
        y[i] = (float)next_number();
        z[i] = next_number();
        x[i] = x[i] == 0 ? 0.5f : x[i];
    }
    x[1234] = -3;
    x[4321] = 3;
    x[77] = x[99] = 0.001f;
    for (int i = 0; i < N; i++) {
        dot += (double)x[i] * y[i];
        size += fabs((double)x[i] * y[i]);
        squares += (double)x[i] * x[i];
        sum += fabs(x[i]);
        doubles += z[i] * z[i];
    }
    float *on_x = (float *)to_device(x, sizeof(x)), *on_y = (float *)to_device(y, sizeof(y)), single;
    double *on_z = (double *)to_device(z, sizeof(z)), whole;
    int index;
    NEED(cublasSdot_v2(handle, N, on_x, 1, on_y, 1, &single));
    EXPECT(is_near(single, dot, size, 0x1p-20));
    NEED(cublasSnrm2_v2(handle, N, on_x, 1, &single));
    EXPECT(is_near(single, sqrt(squares), sqrt(squares), 0x1p-20));
    NEED(cublasSasum_v2(handle, N, on_x, 1, &single));
    EXPECT(is_near(single, sum, sum, 0x1p-20));
    NEED(cublasIsamax_v2(handle, N, on_x, 1, &index));
    EXPECT(index == 1235);
    NEED(cublasIsamin_v2(handle, N, on_x, 1, &index));
    EXPECT(index == 78);
    NEED(cublasDdot_v2(handle, N, on_z, 1, on_z, 1, &whole));
    EXPECT(is_near(whole, doubles, doubles, 0x1p-48));
    NEED(cublasDnrm2_v2(handle, N, on_z, 1, &whole));
    EXPECT(is_near(whole, sqrt(doubles), sqrt(doubles), 0x1p-48));

    /* the result on the device */
    double *on_result = (double *)to_device(z, sizeof(double));
    NEED(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    NEED(cublasDasum_v2(handle, N, on_z, 1, on_result));
    NEED(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    from_device(&whole, on_result, sizeof(whole));
    sum = 0;
    for (int i = 0; i < N; i++)
        sum += fabs(z[i]);
    EXPECT(is_near(whole, sum, sum, 0x1p-48));

    /* without elements; squares that overflow and vanish */
    single = 7;
    NEED(cublasSdot_v2(handle, 0, on_x, 1, on_y, 1, &single));
    EXPECT(single == 0);
    double large[2] = {3e300, 4e300}, small[2] = {3e-300, 4e-300};
    NEED(cudaMemcpy(on_z, large, sizeof(large), cudaMemcpyHostToDevice));
    NEED(cublasDnrm2_v2(handle, 2, on_z, 1, &whole));
    EXPECT(is_near(whole, 5e300, 5e300, 0x1p-48));
    NEED(cudaMemcpy(on_z, small, sizeof(small), cudaMemcpyHostToDevice));
    NEED(cublasDnrm2_v2(handle, 2, on_z, 1, &whole));
    EXPECT(is_near(whole, 5e-300, 5e-300, 0x1p-48));

    cuDoubleComplex product, p[2] = {{1, 2}, {3, -1}}, q[2] = {{2, 1}, {0, 5}};
    void *on_p = to_device(p, sizeof(p)), *on_q = to_device(q, sizeof(q));
    NEED(cublasZdotc_v2(handle, 2, (cuDoubleComplex *)on_p, 1, (cuDoubleComplex *)on_q, 1, &product));
    EXPECT(product.x == -1 && product.y == 12);
    void *all[] = {on_x, on_y, on_z, on_result, on_p, on_q};
    for (int i = 0; i < 6; i++)
        NEED(cudaFree(all[i]));
}

/* ---- Handles, copies, errors ------------------------------------------------------------------------------------- */

static void test_handle(void) {
    int version = 0, major = 0;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    cudaStream_t stream, got;
    NEED(cublasGetVersion(handle, &version));
    NEED(cublasGetProperty(MAJOR_VERSION, &major));
    EXPECT(version / 10000 == major && major >= 11);
    NEED(cublasGetPointerMode(handle, &pointers));
    EXPECT(pointers == CUBLAS_POINTER_MODE_HOST);
    NEED(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    NEED(cublasGetMathMode(handle, &math));
    EXPECT(math == CUBLAS_TF32_TENSOR_OP_MATH);
    NEED(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    NEED(cudaStreamCreate(&stream));
    NEED(cublasSetStream(handle, stream));
    NEED(cublasGetStream(handle, &got));
    EXPECT(got == stream);
    NEED(cublasSetStream(handle, NULL));
    NEED(cudaStreamDestroy(stream));
    EXPECT(strcmp(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED") == 0);
}

static void test_transfers(void) {
    int rows = 5, cols = 4, from[7 * 4], to[6 * 4] = {0}, line[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, back[6] = {0};
    for (int i = 0; i < 7 * cols; i++)
        from[i] = i + 1;
    void *memory;
    NEED(cudaMalloc(&memory, sizeof(from)));
    NEED(cublasSetMatrix(rows, cols, sizeof(int), from, 7, memory, 5));
    NEED(cublasGetMatrix(rows, cols, sizeof(int), memory, 5, to, 6));
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < 6; i++)
            EXPECT(to[i + 6 * j] == (i < rows ? from[i + 7 * j] : 0));
    NEED(cublasSetVector(3, sizeof(int), line, 3, memory, 2));
    NEED(cublasGetVector(3, sizeof(int), memory, 2, back, 2));
    EXPECT(back[0] == 1 && back[1] == 0 && back[2] == 4 && back[4] == 7);
    EXPECT(cublasSetVector(3, 0, line, 1, memory, 1) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSetMatrix(5, 1, sizeof(int), from, 0, memory, 5) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSetMatrix(5, 1, sizeof(int), from, 4, memory, 5) == CUBLAS_STATUS_MAPPING_ERROR);
    EXPECT(cublasGetMatrix(5, 1, sizeof(int), memory, 5, to, 4) == CUBLAS_STATUS_MAPPING_ERROR);
    NEED(cudaFree(memory));
}

static void test_errors(void) {
    float one = 1, *memory;
    cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;
    NEED(cudaMalloc((void **)&memory, 1024));
    EXPECT(cublasSgemm_v2(NULL, n, n, 2, 2, 2, &one, memory, 2, memory, 2, &one, memory, 2) ==
           CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(cublasSgemm_v2(handle, n, n, -1, 2, 2, &one, memory, 2, memory, 2, &one, memory, 2) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSgemm_v2(handle, n, n, 4, 2, 2, &one, memory, 3, memory, 2, &one, memory, 4) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSgemm_v2(handle, t, n, 4, 2, 3, &one, memory, 2, memory, 3, &one, memory, 4) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSgemm_v2(handle, n, t, 4, 3, 2, &one, memory, 4, memory, 2, &one, memory, 4) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSgemm_v2(handle, n, n, 4, 2, 2, &one, memory, 4, memory, 2, &one, memory, 3) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasSgemm_v2(handle, n, n, 0, 2, 2, &one, NULL, 1, NULL, 2, &one, NULL, 1) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasSetMathMode(handle, (cublasMath_t)99) == CUBLAS_STATUS_INVALID_VALUE);
    NEED(cudaFree(memory));
}

int main(void) {
    NEED(cublasCreate(&handle));
    test_handle();
    test_transfers();
    test_errors();
    test_S_elements();
    test_D_elements();
    test_rotation();
    test_reductions();
    NEED(cublasDestroy(handle));
    return finish("vectors");
}
