/* cuBLAS levels 2 and 3 besides gemm, in float and double, against loops on the host: both triangles and sides, all
 * operations, unit diagonals, leading dimensions. Results are compared within 2^-18 (float) or 2^-45 (double) of 100,
 * which no sum of absolute terms here exceeds. */
#include "check.h"
#include "cublas.h"

enum { M = 37, N = 21, K = 15, LD = 40, ROOM = LD * LD };

static cublasHandle_t handle;

/* The whole matrix that a stored triangle stands for. */
#define DEFINE(S, T, tolerance)                                                                                        \
    static T S##_a[ROOM], S##_b[ROOM], S##_c[ROOM], S##_got[ROOM];                                                     \
    static T *S##_on_a, *S##_on_b, *S##_on_c;                                                                          \
                                                                                                                       \
    static void S##_fill(void) {                                                                                       \
        for (int i = 0; i < ROOM; i++) {                                                                               \
            S##_a[i] = (T)(next_number() / 8 + (i % (LD + 1) == 0 ? 2 : 0)); /* well conditioned */                    \
            S##_b[i] = (T)next_number();                                                                               \
            S##_c[i] = (T)next_number();                                                                               \
        }                                                                                                              \
        NEED(cudaMemcpy(S##_on_a, S##_a, sizeof(S##_a), cudaMemcpyHostToDevice));                                      \
        NEED(cudaMemcpy(S##_on_b, S##_b, sizeof(S##_b), cudaMemcpyHostToDevice));                                      \
        NEED(cudaMemcpy(S##_on_c, S##_c, sizeof(S##_c), cudaMemcpyHostToDevice));                                      \
    }                                                                                                                  \
    static int S##_near(double got, double want) { return fabs(got - want) <= tolerance * 100; }                       \
    static double S##_at(const T *x, int i, int j, cublasOperation_t op) {                                             \
        return op == CUBLAS_OP_N ? x[i + j * LD] : x[j + i * LD];                                                      \
    }                                                                                                                  \
    static double S##_symmetric(int i, int j, cublasFillMode_t fill) {                                                 \
        return (fill == CUBLAS_FILL_MODE_LOWER) == (i >= j) ? S##_a[i + j * LD] : S##_a[j + i * LD];                   \
    }                                                                                                                  \
    static double S##_triangle(int i, int j, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diagonal) { \
        int row = op == CUBLAS_OP_N ? i : j, col = op == CUBLAS_OP_N ? j : i;                                          \
        if (row == col)                                                                                                \
            return diagonal == CUBLAS_DIAG_UNIT ? 1 : S##_a[row + col * LD];                                           \
        return (fill == CUBLAS_FILL_MODE_LOWER) == (row > col) ? S##_a[row + col * LD] : 0;                            \
    }                                                                                                                  \
                                                                                                                       \
    static void S##_test_gemv(cublasOperation_t op) {                                                                  \
        T alpha = (T)1.5, beta = (T)-0.5;                                                                              \
        int rows = op == CUBLAS_OP_N ? M : N, cols = op == CUBLAS_OP_N ? N : M;                                        \
        S##_fill();                                                                                                    \
        NEED(cublas##S##gemv_v2(handle, op, M, N, &alpha, S##_on_a, LD, S##_on_b, 2, &beta, S##_on_c, -3));            \
        from_device(S##_got, S##_on_c, sizeof(S##_got));                                                               \
        for (int i = 0; i < rows; i++) {                                                                               \
            double sum = 0;                                                                                            \
            for (int j = 0; j < cols; j++)                                                                             \
                sum += S##_at(S##_a, i, j, op) * S##_b[2 * j];                                                         \
            int place = 3 * (rows - 1 - i);                                                                            \
            EXPECT(S##_near(S##_got[place], alpha *sum + beta * S##_c[place]));                                        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void S##_test_symm(cublasSideMode_t side, cublasFillMode_t fill) {                                          \
        T alpha = 2, beta = (T)0.5;                                                                                    \
        int n_inner = side == CUBLAS_SIDE_LEFT ? M : N;                                                                \
        S##_fill();                                                                                                    \
        NEED(cublas##S##symm_v2(handle, side, fill, M, N, &alpha, S##_on_a, LD, S##_on_b, LD, &beta, S##_on_c, LD));   \
        from_device(S##_got, S##_on_c, sizeof(S##_got));                                                               \
        for (int j = 0; j < N; j++)                                                                                    \
            for (int i = 0; i < M; i++) {                                                                              \
                double sum = 0;                                                                                        \
                for (int k = 0; k < n_inner; k++)                                                                      \
                    sum += side == CUBLAS_SIDE_LEFT ? S##_symmetric(i, k, fill) * S##_b[k + j * LD]                    \
                                                    : S##_b[i + k * LD] * S##_symmetric(k, j, fill);                   \
                EXPECT(S##_near(S##_got[i + j * LD], alpha *sum + beta * S##_c[i + j * LD]));                          \
            }                                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    static void S##_test_syrk(cublasFillMode_t fill, cublasOperation_t op) {                                           \
        T alpha = (T)-1, beta = 2;                                                                                     \
        S##_fill();                                                                                                    \
        NEED(cublas##S##syrk_v2(handle, fill, op, N, K, &alpha, S##_on_b, LD, &beta, S##_on_c, LD));                   \
        from_device(S##_got, S##_on_c, sizeof(S##_got));                                                               \
        for (int j = 0; j < N; j++)                                                                                    \
            for (int i = 0; i < N; i++) {                                                                              \
                double sum = 0, before = S##_c[i + j * LD];                                                            \
                for (int k = 0; k < K; k++)                                                                            \
                    sum += S##_at(S##_b, i, k, op) * S##_at(S##_b, j, k, op);                                          \
                int is_stored = i == j || (fill == CUBLAS_FILL_MODE_LOWER) == (i > j);                                 \
                EXPECT(S##_near(S##_got[i + j * LD], is_stored ? alpha *sum + beta *before : before));                 \
            }                                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    /* trmm, in place, then trsm of the result: B again */                                                             \
    static void S##_test_triangle(cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,                  \
                                  cublasDiagType_t diagonal) {                                                         \
        T alpha = 2, half = (T)0.5;                                                                                    \
        int n_inner = side == CUBLAS_SIDE_LEFT ? M : N;                                                                \
        S##_fill();                                                                                                    \
        NEED(cublas##S##trmm_v2(handle, side, fill, op, diagonal, M, N, &alpha, S##_on_a, LD, S##_on_b, LD, S##_on_b,  \
                                LD));                                                                                  \
        from_device(S##_got, S##_on_b, sizeof(S##_got));                                                               \
        for (int j = 0; j < N; j++)                                                                                    \
            for (int i = 0; i < M; i++) {                                                                              \
                double sum = 0;                                                                                        \
                for (int k = 0; k < n_inner; k++)                                                                      \
                    sum += side == CUBLAS_SIDE_LEFT ? S##_triangle(i, k, fill, op, diagonal) * S##_b[k + j * LD]       \
                                                    : S##_b[i + k * LD] * S##_triangle(k, j, fill, op, diagonal);      \
                EXPECT(S##_near(S##_got[i + j * LD], alpha *sum));                                                     \
            }                                                                                                          \
        NEED(cublas##S##trsm_v2(handle, side, fill, op, diagonal, M, N, &half, S##_on_a, LD, S##_on_b, LD));           \
        from_device(S##_got, S##_on_b, sizeof(S##_got));                                                               \
        for (int j = 0; j < N; j++)                                                                                    \
            for (int i = 0; i < LD; i++)                                                                               \
                EXPECT(S##_near(S##_got[i + j * LD], S##_b[i + j * LD]));                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void S##_test_elements(cublasOperation_t op) {                                                              \
        T alpha = 2, beta = -1;                                                                                        \
        S##_fill();                                                                                                    \
        NEED(cublas##S##geam(handle, op, CUBLAS_OP_N, M, N, &alpha, S##_on_a, LD, &beta, S##_on_b, LD, S##_on_c, LD)); \
        from_device(S##_got, S##_on_c, sizeof(S##_got));                                                               \
        for (int j = 0; j < N; j++)                                                                                    \
            for (int i = 0; i < M; i++)                                                                                \
                EXPECT(S##_near(S##_got[i + j * LD], 2 * S##_at(S##_a, i, j, op) - S##_b[i + j * LD]));                \
        cublasSideMode_t side = op == CUBLAS_OP_N ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;                              \
        NEED(cublas##S##dgmm(handle, side, M, N, S##_on_a, LD, S##_on_b, 2, S##_on_c, LD));                            \
        from_device(S##_got, S##_on_c, sizeof(S##_got));                                                               \
        for (int j = 0; j < N; j++)                                                                                    \
            for (int i = 0; i < M; i++)                                                                                \
                EXPECT(                                                                                                \
                    S##_near(S##_got[i + j * LD], S##_a[i + j * LD] * S##_b[2 * (side == CUBLAS_SIDE_LEFT ? i : j)])); \
    }                                                                                                                  \
                                                                                                                       \
    static void S##_test(void) {                                                                                       \
        NEED(cudaMalloc((void **)&S##_on_a, sizeof(S##_a)));                                                           \
        NEED(cudaMalloc((void **)&S##_on_b, sizeof(S##_b)));                                                           \
        NEED(cudaMalloc((void **)&S##_on_c, sizeof(S##_c)));                                                           \
        for (int i = 0; i < 16; i++) {                                                                                 \
            cublasFillMode_t fill = i & 1 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;                           \
            cublasOperation_t op = i & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;                                                  \
            cublasSideMode_t side = i & 4 ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;                                      \
            S##_test_triangle(side, fill, op, i & 8 ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT);                        \
            if (i < 4) {                                                                                               \
                S##_test_syrk(fill, op);                                                                               \
                S##_test_symm(i & 2 ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, fill);                                     \
            }                                                                                                          \
            if (i < 2) {                                                                                               \
                S##_test_gemv(i ? CUBLAS_OP_T : CUBLAS_OP_N);                                                          \
                S##_test_elements(i ? CUBLAS_OP_T : CUBLAS_OP_N);                                                      \
            }                                                                                                          \
        }                                                                                                              \
        NEED(cudaFree(S##_on_a));                                                                                      \
        NEED(cudaFree(S##_on_b));                                                                                      \
        NEED(cudaFree(S##_on_c));                                                                                      \
    }
DEFINE(S, float, 0x1p-18)
DEFINE(D, double, 0x1p-45)

static void test_ger(void) {
    float alpha = 2, a[ROOM], x[M], y[2 * N], got[ROOM];
    for (int i = 0; i < ROOM; i++)
        a[i] = (float)next_number();
    for (int i = 0; i < M; i++)
        x[i] = (float)next_number();
    for (int i = 0; i < 2 * N; i++)
        y[i] = (float)next_number();
    float *on_a = (float *)to_device(a, sizeof(a)), *on_x = (float *)to_device(x, sizeof(x));
    float *on_y = (float *)to_device(y, sizeof(y));
    NEED(cublasSger_v2(handle, M, N, &alpha, on_x, 1, on_y, 2, on_a, LD));
    from_device(got, on_a, sizeof(got));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < LD; i++)
            EXPECT(S_near(got[i + j * LD], a[i + j * LD] + (i < M ? 2.0 * x[i] * y[2 * j] : 0)));
    NEED(cudaFree(on_a));
    NEED(cudaFree(on_x));
    NEED(cudaFree(on_y));
}

/* A batch of systems, solved by factors and by inverses. The first rows need an exchange. */
static void test_factors(void) {
    enum { SIDE = 17, RIGHT = 3, BATCHES = 4, SIZE = SIDE * SIDE };
    static double a[BATCHES * SIZE], b[BATCHES * SIDE * RIGHT], x[BATCHES * SIDE * RIGHT], inverse[BATCHES * SIZE];
    void *arrays[3][BATCHES];
    int pivots[BATCHES * SIDE], infos[BATCHES], info;
    for (int i = 0; i < BATCHES * SIZE; i++)
        a[i] = i % SIZE == 0 ? 0 : next_number() + (i % SIZE % (SIDE + 1) == 0 ? 3 : 0);
    for (int i = 0; i < BATCHES * SIDE * RIGHT; i++)
        b[i] = next_number();
    double *on_a = (double *)to_device(a, sizeof(a)), *on_b = (double *)to_device(b, sizeof(b));
    double *on_inverse = (double *)to_device(inverse, sizeof(inverse));
    int *on_pivots = (int *)to_device(pivots, sizeof(pivots)), *on_infos = (int *)to_device(infos, sizeof(infos));
    for (int i = 0; i < BATCHES; i++) {
        arrays[0][i] = on_a + i * SIZE;
        arrays[1][i] = on_b + i * SIDE * RIGHT;
        arrays[2][i] = on_inverse + i * SIZE;
    }
    double **on_arrays = (double **)to_device(arrays, sizeof(arrays));
    NEED(cublasDmatinvBatched(handle, SIDE, (const double *const *)on_arrays, SIDE, on_arrays + 2 * BATCHES, SIDE,
                              on_infos, BATCHES));
    from_device(inverse, on_inverse, sizeof(inverse));
    for (int which = 0; which < 2; which++) { /* A x = b, then A' x = b with the same factors */
        if (!which)
            NEED(cublasDgetrfBatched(handle, SIDE, on_arrays, SIDE, on_pivots, on_infos, BATCHES));
        NEED(cudaMemcpy(on_b, b, sizeof(b), cudaMemcpyHostToDevice));
        NEED(cublasDgetrsBatched(handle, which ? CUBLAS_OP_T : CUBLAS_OP_N, SIDE, RIGHT,
                                 (const double *const *)on_arrays, SIDE, on_pivots, on_arrays + BATCHES, SIDE, &info,
                                 BATCHES));
        from_device(x, on_b, sizeof(x));
        from_device(infos, on_infos, sizeof(infos));
        EXPECT(info == 0);
        for (int s = 0; s < BATCHES; s++)
            for (int j = 0; j < RIGHT; j++)
                for (int i = 0; i < SIDE; i++) {
                    double sum = 0;
                    for (int k = 0; k < SIDE; k++)
                        sum += a[s * SIZE + (which ? k + i * SIDE : i + k * SIDE)] * x[(s * RIGHT + j) * SIDE + k];
                    EXPECT(fabs(sum - b[(s * RIGHT + j) * SIDE + i]) < 1e-11 && infos[s] == 0);
                }
    }
    for (int s = 0; s < BATCHES; s++)
        for (int j = 0; j < SIDE; j++)
            for (int i = 0; i < SIDE; i++) {
                double sum = 0;
                for (int k = 0; k < SIDE; k++)
                    sum += a[s * SIZE + i + k * SIDE] * inverse[s * SIZE + k + j * SIDE];
                EXPECT(fabs(sum - (i == j)) < 1e-11);
            }
    void *all[] = {on_a, on_b, on_inverse, on_pivots, on_infos, on_arrays};
    for (int i = 0; i < 6; i++)
        NEED(cudaFree(all[i]));
}

int main(void) {
    NEED(cublasCreate(&handle));
    S_test();
    D_test();
    test_ger();
    test_factors();
    NEED(cublasDestroy(handle));
    return finish("matrices");
}
