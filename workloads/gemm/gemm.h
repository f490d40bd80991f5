// What the two programs of gemm share: elements are multiples of 1 / GEMM_STEPS.
#pragma once

#include "../common/workload.h"

enum { GEMM_STEPS = 8, GEMM_VALUES = 32 };

// Returns the half-precision bits of value / 8, for a value from -16 to 15.
uint16_t gemm_encode(int value);

// groups.c: runs the program with --code groups.
int gemm_run_groups(struct workload *w);
