/* Products of f64 matrices: fused multiply-additions one after the other, in the order of k, each rounded. */
#include <math.h>

#include "exec/lanes/float.h"
#include "exec/matrix/matrix.h"

void exec_multiply_double(const struct exec_matrix *matrix, struct exec_dense *dense) {
    unsigned m = matrix->m, n = matrix->n, k = matrix->k;
    const double *a = (const double *)dense->a, *b = (const double *)dense->b, *c = (const double *)dense->c;
    double *d = (double *)dense->d;
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++) {
            double sum = c[i * n + j];
            for (unsigned x = 0; x < k; x++)
                sum = f64_with_nan(fma(a[i * k + x], b[j * k + x], sum), b[j * k + x], sum, a[i * k + x]);
            d[i * n + j] = sum;
        }
}
