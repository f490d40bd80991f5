// What the two files share.
#pragma once

extern __constant__ int offsets[4];
extern __device__ int calls;
__device__ int twice(int x);
__device__ int biased(int x);
void launch_from_other_file(int *out);
