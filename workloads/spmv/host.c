// spmv: the product of a sparse matrix and a vector.
//
// The reference transposes the matrix and works column by column in double precision. Elements lie in [-1, 1) and a row
// has at most 255 of them, which a float adds with an error below 1e-4.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "spmv",
    .summary = "sparse matrix times vector in compressed rows of skewed lengths, one row per thread",
    .sizes = {"4,096 rows, about 20 elements each", "49,152 rows, about 20 elements each",
              "262,144 rows, about 20 elements each"},
};

enum { SHORTEST = 4, N_OCTAVES = 6 };

// The elements of row i are value[k] in column[k], from k = row[i] to row[i + 1] - 1.
struct matrix {
    size_t n;
    int *row, *column;
    float *value;
};

// An octave of lengths is half as likely as the one below it, so each holds about as many elements: 4 to 7 elements in
// half of the rows, 128 to 255 in one of 32 (the last octave takes the rest of the series).
static int draw_length(struct workload *w) {
    uint32_t random = workload_random(w);
    int octave = 0;
    while (octave < N_OCTAVES - 1 && random >> octave & 1)
        octave++;
    uint32_t shortest = (uint32_t)SHORTEST << octave;
    return (int)(shortest + (random >> N_OCTAVES) % shortest);
}

static float signed_unit(struct workload *w) { return (float)workload_random(w) * 0x1p-23f - 1.0f; }

static struct matrix make_matrix(struct workload *w, size_t n) {
    struct matrix m = {.n = n, .row = workload_array(w, n + 1, sizeof(int))};
    for (size_t i = 0; i < n; i++)
        m.row[i + 1] = m.row[i] + draw_length(w);
    size_t n_elements = (size_t)m.row[n];
    m.column = workload_array(w, n_elements, sizeof *m.column);
    m.value = workload_array(w, n_elements, sizeof *m.value);
    for (size_t k = 0; k < n_elements; k++) {
        m.column[k] = (int)(workload_random(w) % n);
        m.value[k] = signed_unit(w);
    }
    return m;
}

// start[c] to start[c + 1] - 1: the places in `order` of the elements of column c.
static void sort_by_column(const struct matrix *m, int *start, int *order) {
    for (int k = 0; k < m->row[m->n]; k++)
        start[m->column[k] + 1]++;
    for (size_t c = 0; c < m->n; c++)
        start[c + 1] += start[c];
    for (int k = m->row[m->n] - 1; k >= 0; k--) // start[c + 1] counts down to where column c begins
        order[--start[m->column[k] + 1]] = k;
    for (size_t c = 0; c < m->n; c++)
        start[c] = start[c + 1];
    start[m->n] = m->row[m->n];
}

static void multiply_reference(const struct workload *w, const struct matrix *m, const float *x, float *y) {
    size_t n_elements = (size_t)m->row[m->n];
    int *start = workload_array(w, m->n + 1, sizeof *start), *order = workload_array(w, n_elements, sizeof *order);
    int *row_of = workload_array(w, n_elements, sizeof *row_of);
    double *sum = workload_array(w, m->n, sizeof *sum);
    sort_by_column(m, start, order);
    for (size_t i = 0; i < m->n; i++)
        for (int k = m->row[i]; k < m->row[i + 1]; k++)
            row_of[k] = (int)i;
    for (size_t c = 0; c < m->n; c++)
        for (int at = start[c]; at < start[c + 1]; at++)
            sum[row_of[order[at]]] += (double)m->value[order[at]] * (double)x[c];
    for (size_t i = 0; i < m->n; i++)
        y[i] = (float)sum[i];
    free(start);
    free(order);
    free(row_of);
    free(sum);
}

static void multiply(const struct workload *w, const struct matrix *m, const float *x, float *y,
                     struct workload_shape shape) {
    size_t n_elements = (size_t)m->row[m->n];
    int n = (int)m->n;
    CUdeviceptr row = workload_upload(w, m->row, (m->n + 1) * sizeof *m->row);
    CUdeviceptr column = workload_upload(w, m->column, n_elements * sizeof *m->column);
    CUdeviceptr value = workload_upload(w, m->value, n_elements * sizeof *m->value);
    CUdeviceptr device_x = workload_upload(w, x, m->n * sizeof *x);
    CUdeviceptr device_y = workload_device_alloc(w, m->n * sizeof *y);
    workload_launch(w, "spmv", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&row, &column, &value, &device_x, &device_y, &n});
    workload_download(w, y, device_y, m->n * sizeof *y);
    workload_device_free(w, row);
    workload_device_free(w, column);
    workload_device_free(w, value);
    workload_device_free(w, device_x);
    workload_device_free(w, device_y);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 4096, 49152, 1 << 18);
    struct matrix matrix = make_matrix(&w, n);
    int n_elements = matrix.row[n];
    float *x = workload_array(&w, n, sizeof *x), *y = workload_array(&w, n, sizeof *y);
    float *expected = workload_array(&w, n, sizeof *expected);
    for (size_t i = 0; i < n; i++)
        x[i] = signed_unit(&w);
    struct workload_shape shape = workload_shape(&w, n, 256);
    multiply(&w, &matrix, x, y, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        multiply_reference(&w, &matrix, x, expected);
        diff = workload_diff_f32(y, expected, n, 1e-4, 0);
    }
    free(matrix.row);
    free(matrix.column);
    free(matrix.value);
    free(x);
    free(y);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu rows, %d elements, %u blocks of %u threads", n, n_elements,
                           shape.blocks, shape.threads);
}
