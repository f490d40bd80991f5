// fft_rows: the discrete Fourier transform of complex numbers, forward, not scaled, in six steps over rows, one row per
// thread.
//
// The reference is the recursive radix-2 form. The parts of the input are in [-1, 1), so those of the result are of the
// order of sqrt(n); a pass adds one or two rounding errors of 2^-53, and 1e-14 sqrt(n) covers them all.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { PITCH_OPTION = 1 }; // after the option of all parallel loops

static const struct workload_info info = {
    .name = "fft_rows",
    .summary = "Fourier transform in six steps: rows by radix 2 and transpositions, one row per thread",
    .sizes = {"4,096 complex points", "65,536 complex points", "65,536 complex points"},
    .options = {WORKLOAD_REJOIN_OPTION,
                {"--pitch", "POINTS", "points from one row to the next; default one more than a row has", 1, 1 << 16}},
};

static const double turn = 6.283185307179586476925;

struct point {
    double re, im;
};

// A square of side points a side; rows begin `pitch` points apart, by default one more: at every place of a line.
struct square {
    size_t side, pitch;
    struct point *at;
};

static size_t bytes_of(const struct square *s) { return s->side * s->pitch * sizeof *s->at; }

// Transforms the n points in[0], in[stride], in[2 stride]...
static void transform_reference(const struct point *in, struct point *out, size_t n, size_t stride) {
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    size_t half = n / 2;
    transform_reference(in, out, half, 2 * stride);
    transform_reference(in + stride, out + half, half, 2 * stride);
    for (size_t k = 0; k < half; k++) {
        double angle = -turn * (double)k / (double)n, c = cos(angle), s = sin(angle);
        struct point even = out[k], odd = out[k + half];
        struct point product = {odd.re * c - odd.im * s, odd.re * s + odd.im * c};
        out[k] = (struct point){even.re + product.re, even.im + product.im};
        out[k + half] = (struct point){even.re - product.re, even.im - product.im};
    }
}

// The points in a row, without what lies between the rows of the square.
static struct point *packed(const struct workload *w, const struct square *s) {
    struct point *points = workload_array(w, s->side * s->side, sizeof *points);
    for (size_t i = 0; i < s->side * s->side; i++)
        points[i] = s->at[i / s->side * s->pitch + i % s->side];
    return points;
}

// The n-th roots of 1.
static CUdeviceptr upload_roots(const struct workload *w, size_t n) {
    struct point *roots = workload_array(w, n, sizeof *roots);
    for (size_t k = 0; k < n; k++) {
        double angle = -turn * (double)k / (double)n;
        roots[k] = (struct point){cos(angle), sin(angle)};
    }
    CUdeviceptr device = workload_upload(w, roots, n * sizeof *roots);
    free(roots);
    return device;
}

static void transform(const struct workload *w, struct square *s, struct workload_shape shape) {
    int side = (int)s->side, pitch = (int)s->pitch, log_side = 0, rejoins = workload_rejoins(w);
    while (1 << log_side < side)
        log_side++;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    CUdeviceptr a = workload_upload(w, s->at, bytes_of(s)), b = workload_upload(w, s->at, bytes_of(s));
    CUdeviceptr roots = upload_roots(w, s->side * s->side), row_roots = upload_roots(w, s->side);
    void *a_to_b[] = {&a, &b, &roots, &side, &log_side, &pitch, &rejoins},
         *b_to_a[] = {&b, &a, &roots, &side, &log_side, &pitch, &rejoins};
    workload_launch(w, "transpose_reversed", grid, a_to_b);
    workload_launch(w, "transform_rows", grid, (void *[]){&b, &row_roots, &side, &pitch, &rejoins});
    workload_launch(w, "transpose_twiddled", grid, b_to_a);
    workload_launch(w, "transform_rows", grid, (void *[]){&a, &row_roots, &side, &pitch, &rejoins});
    workload_launch(w, "transpose_plain", grid, a_to_b);
    workload_download(w, s->at, b, bytes_of(s));
    workload_device_free(w, a);
    workload_device_free(w, b);
    workload_device_free(w, roots);
    workload_device_free(w, row_roots);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t side = workload_pick(&w, 1 << 6, 1 << 8, 1 << 8), n = side * side;
    size_t pitch = w.option[PITCH_OPTION].text ? w.option[PITCH_OPTION].number : side + 1;
    if (pitch < side)
        workload_usage_error(&w, "--pitch takes the %zu points of a row or more, not %zu", side, pitch);
    struct square square = {side, pitch, workload_array(&w, side * pitch, sizeof(struct point))};
    for (size_t i = 0; i < side * square.pitch; i++)
        square.at[i] =
            (struct point){(double)workload_random(&w) * 0x1p-23 - 1, (double)workload_random(&w) * 0x1p-23 - 1};
    struct point *in = packed(&w, &square), *expected = workload_array(&w, n, sizeof *expected);
    struct workload_shape shape = workload_loop_shape(&w, side);
    transform(&w, &square, shape);
    struct point *result = packed(&w, &square);

    struct workload_diff diff = {0};
    if (w.check) {
        transform_reference(in, expected, n, 1);
        diff = workload_diff_f64(&result->re, &expected->re, 2 * n, 1e-14 * sqrt((double)n), 0);
    }
    free(square.at);
    free(in);
    free(result);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu points, 5 launches of %u blocks of %u threads", n,
                           shape.blocks, shape.threads);
}
