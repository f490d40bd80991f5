/* Operations on one matrix: times a vector, and element by element. */
#include "cublas/core/core.h"

enum { THREADS = 128, ROWS_OF_WARPS = THREADS / 32, MOST_BLOCKS = 4096 };

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
