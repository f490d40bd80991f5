// The host's side of xorwow.cuh: seeds, single steps for references, and the matrices that skip to a stream.
#pragma once

#include "workload.h"

enum { XORWOW_WORDS = 5, XORWOW_STREAM_STEPS = 4096 };

// A state of the sequence: the five words, not all zero, and the counter.
struct xorwow {
    uint32_t word[XORWOW_WORDS], counter;
};

struct xorwow xorwow_seed(struct workload *w);
uint32_t xorwow_next(struct xorwow *s);

// Matrix k skips 2^k streams of XORWOW_STREAM_STEPS steps; as many as n_streams streams need.
CUdeviceptr xorwow_upload_matrices(const struct workload *w, unsigned n_streams);
