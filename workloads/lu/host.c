// lu: the decomposition of a square matrix into a lower and an upper triangular factor, in place, without pivoting.
//
// The reference is Doolittle's form in double precision: each element of the factors is one scalar product. The matrix
// is diagonally dominant: its pivots stay near n, multipliers below about 1 / n, and elements of the result are of the
// order of 1 (n on the diagonal), so that 1e-5 + 1e-5 of the element is far above the rounding of single precision.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "lu",
    .summary = "LU decomposition without pivoting, two launches per column",
    .sizes = {"40 x 40 floats", "128 x 128 floats", "300 x 300 floats"},
};

// Elements in [-1, 1), n added on the diagonal.
static float *make_matrix(struct workload *w, size_t n) {
    float *matrix = workload_array(w, n * n, sizeof *matrix);
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = (float)workload_random(w) * 0x1p-23f - 1.0f;
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] += (float)n;
    return matrix;
}

static void decompose_reference(const struct workload *w, const float *matrix, float *expected, size_t n) {
    double *factor = workload_array(w, n * n, sizeof *factor);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = (double)matrix[i * n + j];
            for (size_t k = 0; k < (i < j ? i : j); k++)
                sum -= factor[i * n + k] * factor[k * n + j];
            factor[i * n + j] = i > j ? sum / factor[j * n + j] : sum;
        }
    for (size_t i = 0; i < n * n; i++)
        expected[i] = (float)factor[i];
    free(factor);
}

// Returns the number of launches.
static int decompose(const struct workload *w, float *matrix, int n) {
    size_t bytes = (size_t)n * (size_t)n * sizeof(float);
    int n_launches = 0;
    CUdeviceptr device = workload_upload(w, matrix, bytes);
    void *arguments[] = {&device, &n, NULL};
    for (int k = 0; k < n - 1; k++, n_launches += 2) {
        size_t n_rest = (size_t)(n - 1 - k);
        struct workload_shape column = workload_shape(w, n_rest, 64);
        unsigned row_blocks = w->blocks ? w->blocks : (unsigned)n_rest;
        arguments[2] = &k;
        workload_launch(w, "scale_column", (struct workload_grid){column.blocks, 1, column.threads, 1, 0}, arguments);
        workload_launch(w, "update_rest", (struct workload_grid){row_blocks, 1, column.threads, 1, 0}, arguments);
    }
    workload_download(w, matrix, device, bytes);
    workload_device_free(w, device);
    return n_launches;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned n = workload_pick(&w, 40, 128, 300);
    size_t count = (size_t)n * n;
    float *matrix = make_matrix(&w, n), *expected = workload_array(&w, count, sizeof *expected);
    if (w.check)
        decompose_reference(&w, matrix, expected, n);
    int n_launches = decompose(&w, matrix, (int)n);

    struct workload_diff diff = {0};
    if (w.check)
        diff = workload_diff_f32(matrix, expected, count, 1e-5, 1e-5);
    free(matrix);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%u x %u elements, %d launches", n, n, n_launches);
}
