/* What kernels find beside random numbers. */
#pragma once
#include <stdint.h>

/* Fills the array of 2^22 words with a graph, numbers in order, a search tree and a text; kernels.cuh says where. */
void inputs_fill(uint32_t *words);
