/* All kernels take three arrays of 2^22 words and a number: random floats in [0, 1), floats that are 0, random
 * integers. */
#pragma once
#define KERNEL extern "C" __global__ void
