/* Values for registers, memory and immediates: random bits mixed with values that expose errors. */
#pragma once

#include <stdint.h>

#include "random.h"

/* The intended type of a register's bits; instructions of the same width may read them as another type. */
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
