/* cuBLAS as it was before version 2: a product, a solution and results by value. */
#include "check.h"

#ifdef __NVCC__
#include <cublas.h>
#else
int cublasInit(void), cublasShutdown(void), cublasGetError(void);
int cublasAlloc(int n, int bytes, void **memory), cublasFree(void *memory);
int cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b, int ldb);
int cublasGetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b, int ldb);
void cublasDgemm(char op_a, char op_b, int m, int n, int k, double alpha, const double *a, int lda, const double *b,
                 int ldb, double beta, double *c, int ldc);
void cublasDtrsm(char side, char fill, char op, char diagonal, int m, int n, double alpha, const double *a, int lda,
                 double *b, int ldb);
double cublasDdot(int n, const double *x, int incx, const double *y, int incy);
int cublasIdamax(int n, const double *x, int incx);
#endif

enum { N = 9 };

int main(void) {
    double a[N * N], b[N * N], c[N * N], product = 0, *on[3];
    for (int i = 0; i < N * N; i++) {
        a[i] = next_number() + (i % (N + 1) == 0 ? 4 : 0);
        b[i] = next_number();
        product += a[i] * b[i];
    }
    NEED(cublasInit());
    for (int i = 0; i < 3; i++)
        NEED(cublasAlloc(N * N, sizeof(double), (void **)&on[i]));
    NEED(cublasSetMatrix(N, N, sizeof(double), a, N, on[0], N));
    NEED(cublasSetMatrix(N, N, sizeof(double), b, N, on[1], N));
    cublasDgemm('t', 'N', N, N, N, 2, on[0], N, on[1], N, 0, on[2], N);
    NEED(cublasGetError());
    NEED(cublasGetMatrix(N, N, sizeof(double), on[2], N, c, N));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[k + i * N] * b[k + j * N];
            EXPECT(fabs(c[i + j * N] - 2 * sum) < 1e-12);
        }
    EXPECT(fabs(cublasDdot(N * N, on[0], 1, on[1], 1) - product) < 1e-12);
    cublasDtrsm('L', 'U', 'N', 'N', N, N, 1, on[0], N, on[1], N);
    NEED(cublasGetMatrix(N, N, sizeof(double), on[1], N, c, N));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = i; k < N; k++)
                sum += a[i + k * N] * c[k + j * N];
            EXPECT(fabs(sum - b[i + j * N]) < 1e-12);
        }
    EXPECT(cublasIdamax(N, on[0], N + 1) >= 1);
    NEED(cublasGetError());
    cublasDgemm('x', 'N', N, N, N, 2, on[0], N, on[1], N, 0, on[2], N);
    EXPECT(cublasGetError() != 0);
    for (int i = 0; i < 3; i++)
        NEED(cublasFree(on[i]));
    NEED(cublasShutdown());
    return finish("legacy");
}
