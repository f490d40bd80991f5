// gemv: the product of a dense matrix and a vector.
//
// The reference works column by column in double precision. Elements lie in [-1, 1), and a float adds up to 1,000
// products with an error below 1e-3.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "gemv",
    .summary = "matrix stored by rows times vector, one row per thread",
    .sizes = {"2,048 x 64", "4,096 x 500", "16,384 x 1,000"},
};

static float *random_floats(struct workload *w, size_t n) {
    float *number = workload_array(w, n, sizeof *number);
    for (size_t i = 0; i < n; i++)
        number[i] = (float)workload_random(w) * 0x1p-23f - 1.0f;
    return number;
}

static void multiply(const struct workload *w, const float *matrix, const float *x, float *y, int n_rows, int n_columns,
                     struct workload_shape shape) {
    size_t rows = (size_t)n_rows, columns = (size_t)n_columns;
    CUdeviceptr device_matrix = workload_upload(w, matrix, rows * columns * sizeof *matrix);
    CUdeviceptr device_x = workload_upload(w, x, columns * sizeof *x);
    CUdeviceptr device_y = workload_device_alloc(w, rows * sizeof *y);
    workload_launch(w, "gemv", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&device_matrix, &device_x, &device_y, &n_rows, &n_columns});
    workload_download(w, y, device_y, rows * sizeof *y);
    workload_device_free(w, device_matrix);
    workload_device_free(w, device_x);
    workload_device_free(w, device_y);
}

static void multiply_reference(const struct workload *w, const float *matrix, const float *x, float *y, int n_rows,
                               int n_columns) {
    double *sum = workload_array(w, (size_t)n_rows, sizeof *sum);
    for (int k = 0; k < n_columns; k++)
        for (int i = 0; i < n_rows; i++)
            sum[i] += (double)matrix[(size_t)i * (size_t)n_columns + (size_t)k] * (double)x[k];
    for (int i = 0; i < n_rows; i++)
        y[i] = (float)sum[i];
    free(sum);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n_rows = (int)workload_pick(&w, 2048, 4096, 16384), n_columns = (int)workload_pick(&w, 64, 500, 1000);
    size_t rows = (size_t)n_rows;
    float *matrix = random_floats(&w, rows * (size_t)n_columns), *x = random_floats(&w, (size_t)n_columns);
    float *y = workload_array(&w, rows, sizeof *y), *expected = workload_array(&w, rows, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, rows, 256);
    multiply(&w, matrix, x, y, n_rows, n_columns, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        multiply_reference(&w, matrix, x, expected, n_rows, n_columns);
        diff = workload_diff_f32(y, expected, rows, 1e-3, 0);
    }
    free(matrix);
    free(x);
    free(y);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d, %u blocks of %u threads", n_rows, n_columns,
                           shape.blocks, shape.threads);
}
