// fft: the discrete Fourier transform of complex numbers, forward, not scaled.
//
// The reference is the recursive radix-2 form in double precision. The parts of the input are in [-1, 1), so those of
// the result are of the order of sqrt(n); a pass adds one or two rounding errors of 2^-24, and 2e-6 sqrt(n) covers them
// all.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

static const struct workload_info info = {
    .name = "fft",
    .summary = "Fourier transform: radix 4, one butterfly per thread, one launch per pass",
    .sizes = {"4,096 complex points", "65,536 complex points", "65,536 complex points"},
};

static const double turn = 6.283185307179586476925;

struct point {
    double re, im;
};

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

// Complex arrays are pairs of floats.
static void expect(const struct workload *w, const float *in, float *expected, size_t n) {
    struct point *from = workload_array(w, n, sizeof *from), *to = workload_array(w, n, sizeof *to);
    for (size_t i = 0; i < n; i++)
        from[i] = (struct point){(double)in[2 * i], (double)in[2 * i + 1]};
    transform_reference(from, to, n, 1);
    for (size_t i = 0; i < n; i++) {
        expected[2 * i] = (float)to[i].re;
        expected[2 * i + 1] = (float)to[i].im;
    }
    free(from);
    free(to);
}

static float *make_roots(const struct workload *w, size_t n) {
    float *roots = workload_array(w, 2 * n, sizeof *roots);
    for (size_t k = 0; k < n; k++) {
        double angle = -turn * (double)k / (double)n;
        roots[2 * k] = (float)cos(angle);
        roots[2 * k + 1] = (float)sin(angle);
    }
    return roots;
}

// Transforms `data` on the device; returns the number of launches.
static int transform(const struct workload *w, float *data, const float *roots, int n, struct workload_shape shape) {
    size_t bytes = 2 * (size_t)n * sizeof(float);
    int n_launches = 0;
    CUdeviceptr from = workload_upload(w, data, bytes), to = workload_device_alloc(w, bytes);
    CUdeviceptr device_roots = workload_upload(w, roots, bytes);
    for (int stride = 1; stride < n; stride *= 4, n_launches++) {
        workload_launch(w, "fft_pass", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&from, &to, &device_roots, &n, &stride});
        CUdeviceptr done = to;
        to = from;
        from = done;
    }
    workload_download(w, data, from, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
    workload_device_free(w, device_roots);
    return n_launches;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 1 << 12, 1 << 16, 1 << 16);
    size_t n_floats = 2 * (size_t)n;
    float *data = workload_array(&w, n_floats, sizeof *data),
          *expected = workload_array(&w, n_floats, sizeof *expected);
    float *roots = make_roots(&w, (size_t)n);
    for (size_t i = 0; i < n_floats; i++)
        data[i] = (float)workload_random(&w) * 0x1p-23f - 1.0f;
    if (w.check)
        expect(&w, data, expected, (size_t)n);
    struct workload_shape shape = workload_shape(&w, (size_t)n / 4, 64);
    int n_launches = transform(&w, data, roots, n, shape);

    struct workload_diff diff = {0};
    if (w.check)
        diff = workload_diff_f32(data, expected, n_floats, 2e-6 * sqrt(n), 0);
    free(data);
    free(expected);
    free(roots);
    return workload_finish(&w, w.check ? &diff : NULL, "%d points, %d launches of %u blocks of %u threads", n,
                           n_launches, shape.blocks, shape.threads);
}
