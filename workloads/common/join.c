// The output of joins; see join.h.
#include "join.h"

#include <stdlib.h>

struct join_output join_output_new(const struct workload *w, uint32_t most) {
    uint32_t none[2] = {0};
    return (struct join_output){.pairs = workload_device_alloc(w, most * sizeof(uint64_t)),
                                .n_out = workload_upload(w, none, sizeof none),
                                .most = most};
}

static int compare_pairs(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void join_sort(uint64_t *pairs, size_t n) { qsort(pairs, n, sizeof *pairs, compare_pairs); }

uint64_t *join_output_read(const struct workload *w, struct join_output *output, uint32_t *n) {
    uint32_t n_out[2]; // at the beginning and at the end
    workload_download(w, n_out, output->n_out, sizeof n_out);
    if ((uint64_t)n_out[0] + n_out[1] > output->most)
        workload_fail(w, "the kernel reports %u + %u pairs, more than %u", n_out[0], n_out[1], output->most);
    uint64_t *pairs = workload_array(w, output->most, sizeof *pairs);
    size_t rest_bytes = n_out[1] * sizeof *pairs;
    if (n_out[0])
        workload_download(w, pairs, output->pairs, n_out[0] * sizeof *pairs);
    if (n_out[1])
        workload_download(w, pairs + n_out[0], output->pairs + output->most * sizeof *pairs - rest_bytes, rest_bytes);
    workload_device_free(w, output->pairs);
    workload_device_free(w, output->n_out);
    *n = n_out[0] + n_out[1];
    join_sort(pairs, *n);
    return pairs;
}

struct workload_diff join_diff(const uint64_t *got, uint32_t n_got, const uint64_t *expected, uint32_t n_expected) {
    if (n_got != n_expected)
        return workload_diff_u32(&n_got, &n_expected, 1);
    return workload_diff_u32((const uint32_t *)got, (const uint32_t *)expected, (size_t)n_got * 2);
}
