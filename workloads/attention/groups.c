// attention --code groups: softmax(Q K^T / 8) V of several heads, by producer and consumer warps. The reference
// computes in double precision with the whole row of scores. The kernel's weights, and so its result, have half
// precision, 11 bits.
#include "attention.h"

#include <math.h>
#include <stdlib.h>

enum { DEPTH = 64, ROWS = 128, THREADS = 384, STAGES = 2, KEYS = 64, PIECE = 8 };
enum { SHARED_BYTES = (ROWS + 2 * STAGES * KEYS) * DEPTH * 2 + (1 + 2 * STAGES) * 8 };

// Fills a matrix with multiples of 1 / ATTENTION_STEPS in (-2, 2) and uploads it in half precision, the pieces of eight
// numbers of each row exchanged (common/groups.cuh).
static CUdeviceptr upload_random(struct workload *w, float *matrix, size_t n_rows) {
    uint16_t *half = workload_array(w, n_rows * DEPTH, sizeof *half);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t d = 0; d < DEPTH; d++) {
            float value = (float)((int)workload_random_below(w, 4 * ATTENTION_STEPS - 1) - (2 * ATTENTION_STEPS - 1)) /
                          ATTENTION_STEPS;
            matrix[i * DEPTH + d] = value;
            half[i * DEPTH + (d / PIECE ^ i % 8) * PIECE + d % PIECE] = attention_encode(value);
        }
    CUdeviceptr pointer = workload_upload(w, half, n_rows * DEPTH * sizeof *half);
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
            float score = 0;
            for (size_t d = 0; d < DEPTH; d++)
                score += q[i * DEPTH + d] * k[j * DEPTH + d]; /* exact: multiples of 2^-16 below 2^8 */
            weight[j] = (double)score / sqrt(DEPTH);
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

extern const char groups_ptx[];

int attention_run_groups(struct workload *w) {
    int n = (int)workload_pick(w, 128, 512, 1024);
    unsigned heads = workload_pick(w, 1, 4, 16);
    size_t n_rows = (size_t)n * heads, count = n_rows * DEPTH;
    float *q = workload_array(w, count, sizeof *q), *k = workload_array(w, count, sizeof *k);
    float *v = workload_array(w, count, sizeof *v), *o = workload_array(w, count, sizeof *o);
    float *reference = workload_array(w, count, sizeof *reference), scale = (float)(M_LOG2E / sqrt(DEPTH));

    workload_load(w, groups_ptx);
    CUdeviceptr device_q = upload_random(w, q, n_rows), device_k = upload_random(w, k, n_rows);
    CUdeviceptr device_v = upload_random(w, v, n_rows), device_o = workload_device_alloc(w, count * sizeof *o);
    struct workload_grid grid = {(unsigned)n / ROWS, heads, THREADS, 1, SHARED_BYTES};
    workload_launch(w, "attention_groups", grid, (void *[]){&device_q, &device_k, &device_v, &device_o, &n, &scale});
    workload_download(w, o, device_o, count * sizeof *o);

    struct workload_diff diff = {0};
    if (w->check) {
        for (size_t head = 0; head < heads; head++) {
            size_t at = head * (size_t)n * DEPTH;
            attend_reference(q + at, k + at, v + at, reference + at, (size_t)n);
        }
        diff = workload_diff_f32(o, reference, count, 2e-3, 2e-3);
    }
    workload_device_free(w, device_q);
    workload_device_free(w, device_k);
    workload_device_free(w, device_v);
    workload_device_free(w, device_o);
    free(q);
    free(k);
    free(v);
    free(o);
    free(reference);
    return workload_finish(w, w->check ? &diff : NULL, "%u heads of %d rows of %d, kernel attention_groups", heads, n,
                           DEPTH);
}
