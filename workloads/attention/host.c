// attention: softmax(Q K^T / sqrt(d)) V of one head. The reference computes in double precision with the whole row of
// scores; the kernel sums in another order, in single precision, hence the tolerance.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { DEPTH = 32, THREADS = 64 };

static const struct workload_info info = {
    .name = "attention",
    .summary = "attention of one head, K and V copied asynchronously to shared memory, one row per thread",
    .sizes = {"128 rows of 32", "512 rows of 32", "1024 rows of 32"},
    .blocks_fixed = "a block has 64 rows",
    .threads_fixed = "a block has 64 rows",
};

static void attend_reference(const float *q, const float *k, const float *v, float *o, size_t n) {
    double *weight = malloc(n * sizeof *weight);
    if (!weight)
        abort();
    for (size_t i = 0; i < n; i++) {
        double largest = -HUGE_VAL, total = 0, sum[DEPTH] = {0};
        for (size_t j = 0; j < n; j++) {
            weight[j] = 0;
            for (size_t d = 0; d < DEPTH; d++)
                weight[j] += (double)q[i * DEPTH + d] * (double)k[j * DEPTH + d];
            weight[j] /= sqrt(DEPTH);
            largest = fmax(largest, weight[j]);
        }
        for (size_t j = 0; j < n; j++) {
            weight[j] = exp(weight[j] - largest);
            total += weight[j];
            for (size_t d = 0; d < DEPTH; d++)
                sum[d] += weight[j] * (double)v[j * DEPTH + d];
        }
        for (size_t d = 0; d < DEPTH; d++)
            o[i * DEPTH + d] = (float)(sum[d] / total);
    }
    free(weight);
}

// Uniform in [-2, 2).
static float random_element(struct workload *w) { return (float)workload_random(w) * 0x1p-22f - 2.0f; }

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 128, 512, 1024);
    size_t count = (size_t)n * DEPTH, bytes = count * sizeof(float);
    float *q = workload_array(&w, count, sizeof *q), *k = workload_array(&w, count, sizeof *k);
    float *v = workload_array(&w, count, sizeof *v), *o = workload_array(&w, count, sizeof *o);
    float *reference = workload_array(&w, count, sizeof *reference), scale = (float)(1 / sqrt(DEPTH));
    for (size_t i = 0; i < count; i++) {
        q[i] = random_element(&w);
        k[i] = random_element(&w);
        v[i] = random_element(&w);
    }

    CUdeviceptr device_q = workload_upload(&w, q, bytes), device_k = workload_upload(&w, k, bytes);
    CUdeviceptr device_v = workload_upload(&w, v, bytes), device_o = workload_device_alloc(&w, bytes);
    struct workload_grid grid = {(unsigned)n / THREADS, 1, THREADS, 1, 0};
    workload_launch(&w, "attention", grid, (void *[]){&device_q, &device_k, &device_v, &device_o, &n, &scale});
    workload_download(&w, o, device_o, bytes);

    struct workload_diff diff = {0};
    if (w.check) {
        attend_reference(q, k, v, reference, (size_t)n);
        diff = workload_diff_f32(o, reference, count, 1e-5, 1e-5);
    }
    workload_device_free(&w, device_q);
    workload_device_free(&w, device_k);
    workload_device_free(&w, device_v);
    workload_device_free(&w, device_o);
    free(q);
    free(k);
    free(v);
    free(o);
    free(reference);
    return workload_finish(&w, w.check ? &diff : NULL, "%d rows of %d", n, DEPTH);
}
