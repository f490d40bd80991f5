// What the two programs of attention share: elements of half precision are multiples of 1 / ATTENTION_STEPS.
#pragma once

#include "../common/workload.h"

enum { ATTENTION_STEPS = 256 };

// Returns the half-precision bits of a multiple of 1 / ATTENTION_STEPS below 2.
uint16_t attention_encode(float value);

// groups.c: runs the program with --code groups.
int attention_run_groups(struct workload *w);
