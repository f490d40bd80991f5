// The output of joins: pairs of rows, as collect.cuh writes them, in no order.
#pragma once

#include "workload.h"

enum { JOIN_WARP = 32, JOIN_BUFFER_BYTES = 1024 }; // of a warp, as in collect.cuh

// As in collect.cuh, for pairs.
struct join_output {
    CUdeviceptr pairs, n_out;
    uint32_t most;
};
struct join_output join_output_new(const struct workload *w, uint32_t most);
// Returns the pairs, sorted; *n of them. Frees the device memory.
uint64_t *join_output_read(const struct workload *w, struct join_output *output, uint32_t *n);

void join_sort(uint64_t *pairs, size_t n);
struct workload_diff join_diff(const uint64_t *got, uint32_t n_got, const uint64_t *expected, uint32_t n_expected);
