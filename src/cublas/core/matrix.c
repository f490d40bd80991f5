/* Operations on one matrix: products with a vector, and element-wise operations. */
#include "cublas/core/core.h"

enum { THREADS = 128, ROWS_OF_WARPS = THREADS / 32, MOST_BLOCKS = 4096 };

struct vector cublas_vector(const void *base, int type, int64_t n, int64_t step) {
    char *first = (char *)(uintptr_t)base;
    if (step < 0)
        first += (1 - n) * step * (int64_t)cublas_element_bytes(type);
    return (struct vector){.base = first, .type = type, .step = step};
}

static long long ceiling(long long n, long long of) { return (n + of - 1) / of; }

cublasStatus_t cublas_times(struct cublasContext *handle, const struct matrix_vector *job) {
    if (!job->m || !job->n_batches)
        return CUBLAS_STATUS_SUCCESS;
    bool is_by_rows = job->a.row == 1;
    long long grid[3] = {ceiling(job->m, is_by_rows ? THREADS : ROWS_OF_WARPS), job->n_batches, 1};
    return cublas_launch(handle, CUBLAS_MATRIX, is_by_rows ? "times_by_rows" : "times_by_warps", job->a.type, grid,
                         THREADS, job);
}

cublasStatus_t cublas_each_element(struct cublasContext *handle, const char *operation, const struct matrix_sum *job) {
    if (!job->m || !job->n)
        return CUBLAS_STATUS_SUCCESS;
    long long blocks = ceiling(job->m * job->n, THREADS);
    return cublas_launch(handle, CUBLAS_MATRIX, operation, job->c.type,
                         (const long long[]){blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, 1, 1}, THREADS, job);
}

cublasStatus_t cublas_solve(struct cublasContext *handle, const struct triangle *job) {
    if (!job->m || !job->n || !job->n_batches)
        return CUBLAS_STATUS_SUCCESS;
    long long batches = job->n_batches < 65535 ? job->n_batches : 65535;
    return cublas_launch(handle, CUBLAS_MATRIX, "solve", job->b.type, (const long long[]){job->n, batches, 1}, THREADS,
                         job);
}
