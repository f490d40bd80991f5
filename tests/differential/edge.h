/* Values for registers, memory and immediates: random bits mixed with the values at which instructions go wrong. */
#pragma once

#include <stdint.h>

#include "random.h"

/* What the bits of a register are thought to be; instructions of the same width may read them otherwise. */
enum kind {
    KIND_I16,
    KIND_F16,
    KIND_BF16,
    KIND_I32,
    KIND_F32,
    KIND_F16X2,
    KIND_BF16X2,
    KIND_I64,
    KIND_F64,
    KIND_PRED,
    N_KINDS
};

uint64_t edge_value(struct random *random, enum kind kind);
