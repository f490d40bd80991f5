// svm: gradients of the dual problem of a support vector machine after updates of working pairs.
//
// The reference is in double precision and expands the squared distance: |x - a|^2 = |x|^2 + |a|^2 - 2 x.a. Coordinates
// lie in [0, 1), kernels in (0, 1] and weights in [-1, 1); 8 products with relative errors of about 1e-6 add up to less
// than 2e-5.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

static const struct workload_info info = {
    .name = "svm",
    .summary = "kernel rows of a support vector machine, one vector per thread, one launch per working pair",
    .sizes = {"1,024 vectors, 20-D, 4 pairs", "20,000 vectors, 20-D, 4 pairs", "100,000 vectors, 20-D, 4 pairs"},
};

enum { DIMENSIONS = 20, N_PAIRS = 4 };
static const float kernel_gamma = 0.25f;

// A change of two vectors' multipliers.
struct pair {
    int first, second;
    float first_weight, second_weight;
};

struct problem {
    size_t n;
    float *vectors, *gradient;
    int *is_active; // one in eight is shrunk away
    struct pair pairs[N_PAIRS];
};

static float signed_unit(struct workload *w) { return (float)workload_random(w) * 0x1p-23f - 1.0f; }

// A solver would choose the pair that violates the conditions of optimality most; here pairs are drawn at random.
static struct problem make_problem(struct workload *w, size_t n) {
    struct problem p = {n,
                        workload_array(w, n * DIMENSIONS, sizeof(float)),
                        workload_array(w, n, sizeof(float)),
                        workload_array(w, n, sizeof(int)),
                        {{0}}};
    for (size_t i = 0; i < n * DIMENSIONS; i++)
        p.vectors[i] = (float)workload_random(w) * 0x1p-24f;
    for (size_t i = 0; i < n; i++) {
        p.is_active[i] = workload_random(w) >> 21 != 0;
        p.gradient[i] = workload_random(w) >> 23 ? 1.0f : -1.0f; // minus the label, before the first update
    }
    for (int i = 0; i < N_PAIRS; i++)
        p.pairs[i] =
            (struct pair){(int)(workload_random(w) % n), (int)(workload_random(w) % n), signed_unit(w), signed_unit(w)};
    return p;
}

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (int k = 0; k < DIMENSIONS; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

static double kernel_reference(const float *a, const float *b) {
    return exp(-(double)kernel_gamma * (dot(a, a) + dot(b, b) - 2 * dot(a, b)));
}

static void update_reference(const struct problem *p, float *gradient) {
    for (size_t i = 0; i < p->n; i++) {
        const float *x = p->vectors + i * DIMENSIONS;
        double sum = (double)p->gradient[i];
        for (int k = 0; p->is_active[i] && k < N_PAIRS; k++) {
            const struct pair *pair = &p->pairs[k];
            sum += (double)pair->first_weight * kernel_reference(x, p->vectors + pair->first * DIMENSIONS);
            sum += (double)pair->second_weight * kernel_reference(x, p->vectors + pair->second * DIMENSIONS);
        }
        gradient[i] = (float)sum;
    }
}

static void update(const struct workload *w, const struct problem *p, float *result, struct workload_shape shape) {
    int n = (int)p->n, dimensions = DIMENSIONS;
    float width = kernel_gamma;
    CUdeviceptr vectors = workload_upload(w, p->vectors, p->n * DIMENSIONS * sizeof(float));
    CUdeviceptr gradient = workload_upload(w, p->gradient, p->n * sizeof(float));
    CUdeviceptr is_active = workload_upload(w, p->is_active, p->n * sizeof(int));
    for (int i = 0; i < N_PAIRS; i++) {
        struct pair pair = p->pairs[i];
        workload_launch(w, "add_kernel_rows", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&vectors, &is_active, &gradient, &n, &dimensions, &pair.first, &pair.second,
                                   &pair.first_weight, &pair.second_weight, &width});
    }
    workload_download(w, result, gradient, p->n * sizeof(float));
    workload_device_free(w, vectors);
    workload_device_free(w, gradient);
    workload_device_free(w, is_active);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 1024, 20000, 100000);
    struct problem problem = make_problem(&w, n);
    float *gradient = workload_array(&w, n, sizeof *gradient), *expected = workload_array(&w, n, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, n, 64);
    update(&w, &problem, gradient, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        update_reference(&problem, expected);
        diff = workload_diff_f32(gradient, expected, n, 2e-5, 0);
    }
    free(problem.vectors);
    free(problem.gradient);
    free(problem.is_active);
    free(gradient);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%zu vectors of %d dimensions, %d launches of %u blocks of %u threads", n, DIMENSIONS,
                           N_PAIRS, shape.blocks, shape.threads);
}
