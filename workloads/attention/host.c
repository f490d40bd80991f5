// attention: softmax(Q K^T / sqrt(d)) V of one head. The reference computes in double precision with the whole row of
// scores. The kernel sums in another order, in single precision, hence the tolerance. With matrix instructions the
// weights, and so the result, have half precision, 11 bits.
#include "attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, THREADS = 64 };

static const struct workload_info info = {
    .name = "attention",
    .summary = "attention of one head, K and V copied asynchronously to shared memory, one row per thread",
    .sizes = {"128 rows of 32", "512 rows of 32", "1024 rows of 32"},
    .blocks_fixed = "a block has 64 rows",
    .threads_fixed = "a block has 64 rows",
    .options =
        {{"--code", "WHICH",
          "plain (default); mma: in half precision, with matrix instructions; groups: with wgmma, by producer and "
          "consumer warps, 1 head of 128 rows of 64, 4 of 512, or 16 of 1024",
          0, 0}},
};

static bool uses_matrices(const struct workload *w) {
    const char *code = w->option[0].text;
    if (!code || strcmp(code, "plain") == 0)
        return false;
    if (strcmp(code, "mma") == 0)
        return true;
    workload_usage_error(w, "--code is plain, mma or groups, not '%s'", code);
}

// Returns the half-precision bits of a multiple of 1 / ATTENTION_STEPS below 2.
uint16_t attention_encode(float value) {
    unsigned magnitude = (unsigned)fabsf(value * ATTENTION_STEPS);
    if (magnitude == 0)
        return 0;
    unsigned exponent = 31u - (unsigned)__builtin_clz(magnitude);
    return (uint16_t)((value < 0 ? 0x8000u : 0) | (exponent + 15 - 8) << 10 | ((magnitude << (10 - exponent)) & 0x3ff));
}

// Uploads as it is, or rounds to multiples of 1 / ATTENTION_STEPS, here too, and uploads in half precision.
static CUdeviceptr upload(struct workload *w, float *matrix, size_t count, bool is_half) {
    if (!is_half)
        return workload_upload(w, matrix, count * sizeof *matrix);
    uint16_t *half = workload_array(w, count, sizeof *half);
    for (size_t i = 0; i < count; i++) {
        matrix[i] = truncf(matrix[i] * ATTENTION_STEPS * 0.99f) / ATTENTION_STEPS;
        half[i] = attention_encode(matrix[i]);
    }
    CUdeviceptr pointer = workload_upload(w, half, count * sizeof *half);
    free(half);
    return pointer;
}

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
    if (w.option[0].text && strcmp(w.option[0].text, "groups") == 0)
        return attention_run_groups(&w);
    bool is_half = uses_matrices(&w);
    const char *kernel = is_half ? "attention_mma" : "attention";
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

    CUdeviceptr device_q = upload(&w, q, count, is_half), device_k = upload(&w, k, count, is_half);
    CUdeviceptr device_v = upload(&w, v, count, is_half), device_o = workload_device_alloc(&w, bytes);
    struct workload_grid grid = {(unsigned)n / THREADS, 1, THREADS, 1, 0};
    workload_launch(&w, kernel, grid, (void *[]){&device_q, &device_k, &device_v, &device_o, &n, &scale});
    workload_download(&w, o, device_o, bytes);

    struct workload_diff diff = {0};
    if (w.check) {
        attend_reference(q, k, v, reference, (size_t)n);
        diff = workload_diff_f32(o, reference, count, is_half ? 1e-3 : 1e-5, is_half ? 1e-3 : 1e-5);
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
    return workload_finish(&w, w.check ? &diff : NULL, "%d rows of %d, kernel %s", n, DEPTH, kernel);
}
