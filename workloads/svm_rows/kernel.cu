// The kernel computation of training a support vector machine, one vector per thread: the polynomial kernel of every
// vector with the two of a working pair, kept as a solver caches them, and added with their weights to the vector's
// gradient. Vectors that have been shrunk from the problem are skipped. A vector is a list of nodes, value and index,
// as solvers for sparse problems keep them; the working pair is expanded, an element of both for each index.
#include "../common/tasks.cuh"

struct node {
    double value;
    long long index;
};

// 16-byte alignment: both halves with one load.
struct __align__(16) element {
    double first, second;
};

static __device__ __forceinline__ double kernel(double product) {
    double base = 0.25 * product + 1;
    return base * base * base;
}

extern "C" __global__ void add_kernel_rows(const node *nodes, const long long *is_active, double *gradient,
                                           double *first_row, double *second_row, const element *pair,
                                           double first_weight, double second_weight, int n, int nodes_per_vector,
                                           int rejoins) {
#pragma unroll 1
    for (int i = first_task(); i < n; i += n_threads()) {
        if (is_active[i]) {
            const node *at = nodes + (long long)i * nodes_per_vector;
            double with_first = 0, with_second = 0;
#pragma unroll 1
            for (; at->index >= 0; at++) {
                with_first += at->value * pair[at->index].first;
                with_second += at->value * pair[at->index].second;
            }
            with_first = kernel(with_first);
            with_second = kernel(with_second);
            first_row[i] = with_first;
            second_row[i] = with_second;
            gradient[i] += first_weight * with_first + second_weight * with_second;
        }
        end_task(rejoins);
    }
}
