// svm_rows: gradients of the dual problem of a support vector machine after updates of working pairs, one vector per
// thread.
//
// The reference multiplies vectors without their indices, in another order. Coordinates lie in [0, 1), polynomial
// kernels below 6^3 and weights in [-1, 1); sums of 8 products with relative errors of about 1e-15 are within 1e-11.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "svm_rows",
    .summary = "kernel rows of a support vector machine, one list of nodes per thread, one launch per working pair",
    .sizes = {"1,024 vectors, 20-D, 2 pairs", "20,000 vectors, 20-D, 4 pairs", "100,000 vectors, 20-D, 4 pairs"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

enum { DIMENSIONS = 20, NODES = DIMENSIONS + 1, MOST_PAIRS = 4 };

// As in kernel.cu; an index below 0 ends a vector.
struct node {
    double value;
    int64_t index;
};

// A change of two vectors' multipliers.
struct pair {
    size_t vector[2];
    double weight[2];
};

struct problem {
    size_t n, n_pairs;
    struct node *nodes;
    double *gradient;
    int64_t *is_active; // one in eight is shrunk away
    struct pair pairs[MOST_PAIRS];
};

// A solver would choose the pair that violates the conditions of optimality most; here pairs are drawn at random.
static struct problem make_problem(struct workload *w, size_t n, size_t n_pairs) {
    struct problem p = {.n = n,
                        .n_pairs = n_pairs,
                        .nodes = workload_array(w, n * NODES, sizeof(struct node)),
                        .gradient = workload_array(w, n, sizeof(double)),
                        .is_active = workload_array(w, n, sizeof(int64_t))};
    for (size_t i = 0; i < n * NODES; i++) {
        size_t k = i % NODES;
        p.nodes[i] =
            k == DIMENSIONS ? (struct node){0, -1} : (struct node){(double)workload_random(w) * 0x1p-24, (int64_t)k};
    }
    for (size_t i = 0; i < n; i++) {
        p.is_active[i] = workload_random(w) >> 21 != 0;
        p.gradient[i] = workload_random(w) >> 23 ? 1 : -1; // minus the label, before the first update
    }
    for (size_t i = 0; i < n_pairs; i++)
        for (int k = 0; k < 2; k++) {
            p.pairs[i].vector[k] = workload_random(w) % n;
            p.pairs[i].weight[k] = (double)workload_random(w) * 0x1p-23 - 1;
        }
    return p;
}

static double kernel_reference(const struct node *a, const struct node *b) {
    double sum = 0;
    for (int k = DIMENSIONS - 1; k >= 0; k--)
        sum += a[k].value * b[k].value;
    double base = 0.25 * sum + 1;
    return base * base * base;
}

// The gradient, then the kernel rows.
static void update_reference(const struct problem *p, double *result) {
    for (size_t i = 0; i < p->n; i++) {
        result[i] = p->gradient[i];
        for (size_t k = 0; p->is_active[i] && k < 2 * p->n_pairs; k++) {
            const struct pair *pair = &p->pairs[k / 2];
            double value = kernel_reference(p->nodes + i * NODES, p->nodes + pair->vector[k % 2] * NODES);
            result[(1 + k) * p->n + i] = value;
            result[i] += pair->weight[k % 2] * value;
        }
    }
}

// The pair's vectors with an element of both for each index.
static CUdeviceptr upload_expanded(const struct workload *w, const struct problem *p, const struct pair *pair) {
    double element[DIMENSIONS][2];
    for (int k = 0; k < 2 * DIMENSIONS; k++)
        element[k / 2][k % 2] = p->nodes[pair->vector[k % 2] * NODES + (size_t)k / 2].value;
    return workload_upload(w, element, sizeof element);
}

static void update(const struct workload *w, struct problem *p, double *result, struct workload_shape shape) {
    int n = (int)p->n, nodes_per_vector = NODES, rejoins = workload_rejoins(w);
    CUdeviceptr nodes = workload_upload(w, p->nodes, p->n * NODES * sizeof *p->nodes);
    size_t row = p->n * sizeof *result;
    memcpy(result, p->gradient, row);
    CUdeviceptr gradient = workload_upload(w, result, (1 + 2 * p->n_pairs) * row);
    CUdeviceptr is_active = workload_upload(w, p->is_active, p->n * sizeof *p->is_active);
    for (size_t i = 0; i < p->n_pairs; i++) {
        struct pair *pair = &p->pairs[i];
        CUdeviceptr first_row = gradient + (1 + 2 * i) * row, second_row = first_row + row;
        CUdeviceptr expanded = upload_expanded(w, p, pair);
        workload_launch(w, "add_kernel_rows", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&nodes, &is_active, &gradient, &first_row, &second_row, &expanded, &pair->weight[0],
                                   &pair->weight[1], &n, &nodes_per_vector, &rejoins});
        workload_device_free(w, expanded);
    }
    workload_download(w, result, gradient, (1 + 2 * p->n_pairs) * row);
    workload_device_free(w, nodes);
    workload_device_free(w, gradient);
    workload_device_free(w, is_active);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 1024, 20000, 100000), n_pairs = workload_pick(&w, 2, 4, 4);
    struct problem problem = make_problem(&w, n, n_pairs);
    size_t n_results = (1 + 2 * n_pairs) * n;
    double *result = workload_array(&w, n_results, sizeof *result);
    double *expected = workload_array(&w, n_results, sizeof *expected);
    struct workload_shape shape = workload_loop_shape(&w, n);
    update(&w, &problem, result, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        update_reference(&problem, expected);
        diff = workload_diff_f64(result, expected, n_results, 1e-11, 0);
    }
    free(problem.nodes);
    free(problem.gradient);
    free(problem.is_active);
    free(result);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%zu vectors of %d dimensions, %zu launches of %u blocks of %u threads", n, DIMENSIONS,
                           n_pairs, shape.blocks, shape.threads);
}
