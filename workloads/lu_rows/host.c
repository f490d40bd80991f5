// lu_rows: Gaussian elimination of a matrix with a right-hand side, in place, without pivoting, one row per thread. The
// results are the factors L (its unit diagonal not stored) and U, and the right-hand side multiplied by L's inverse.
//
// The reference is Doolittle's form: each element is one scalar product. The matrix is diagonally dominant: its pivots
// stay near n, multipliers below about 1 / n, and sums of n products of the order of 1 / n differ by less than 1e-12.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "lu_rows",
    .summary = "LU decomposition without pivoting, one row per thread, one launch per column",
    .sizes = {"the first 2 columns of 300 x 300 doubles", "the first 48 columns of 300 x 300 doubles",
              "300 x 300 doubles"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

struct matrix {
    size_t n, width; // rows; columns, with the right-hand side
    size_t n_steps;  // columns to eliminate
    double *element;
};

// Elements in [-1, 1), n added on the diagonal.
static struct matrix make_matrix(struct workload *w, size_t n, size_t n_steps) {
    struct matrix m = {n, n + 1, n_steps, workload_array(w, n * (n + 1), sizeof(double))};
    for (size_t i = 0; i < n * m.width; i++)
        m.element[i] = (double)workload_random(w) * 0x1p-23 - 1;
    for (size_t i = 0; i < n; i++)
        m.element[i * m.width + i] += (double)n;
    return m;
}

// An element below the diagonal is a multiplier once its column is eliminated.
static void decompose_reference(const struct matrix *m, double *expected) {
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->width; j++) {
            double sum = m->element[i * m->width + j];
            size_t n_products = i < j ? i : j;
            for (size_t k = 0; k < (n_products < m->n_steps ? n_products : m->n_steps); k++)
                sum -= expected[i * m->width + k] * expected[k * m->width + j];
            bool is_multiplier = i > j && j < m->n_steps;
            expected[i * m->width + j] = is_multiplier ? sum / expected[j * m->width + j] : sum;
        }
}

static void decompose(const struct workload *w, const struct matrix *m, double *result, struct workload_shape shape) {
    size_t bytes = m->n * m->width * sizeof(double);
    int n = (int)m->n, width = (int)m->width, rejoins = workload_rejoins(w);
    CUdeviceptr device = workload_upload(w, m->element, bytes);
    for (int k = 0; k < (int)m->n_steps; k++)
        workload_launch(w, "eliminate", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&device, &n, &width, &k, &rejoins});
    workload_download(w, result, device, bytes);
    workload_device_free(w, device);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct matrix m = make_matrix(&w, 300, workload_pick(&w, 2, 48, 299));
    size_t count = m.n * m.width;
    double *result = workload_array(&w, count, sizeof *result), *expected = workload_array(&w, count, sizeof *expected);
    struct workload_shape shape = workload_loop_shape(&w, m.n);
    decompose(&w, &m, result, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        decompose_reference(&m, expected);
        diff = workload_diff_f64(result, expected, count, 1e-12, 1e-12);
    }
    free(m.element);
    free(result);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu x %zu elements, %zu launches of %u blocks of %u threads",
                           m.n, m.n, m.n_steps, shape.blocks, shape.threads);
}
