// A parallel loop over tasks as Meng 2010 shares it out (section 3.1): neighbouring tasks go to threads of one warp, in
// stretches of 16 threads. The stretches go round the blocks, so that few tasks are shared by all blocks too.
//
//     for (int task = first_task(); task < n_tasks; task += n_threads())
#pragma once

#include <heddle/device.h>

static __device__ __forceinline__ int n_threads() { return gridDim.x * blockDim.x; }

static __device__ __forceinline__ int first_task() {
    int stretch = blockDim.x % 16 ? blockDim.x : 16;
    return (threadIdx.x / stretch * gridDim.x + blockIdx.x) * stretch + threadIdx.x % stretch;
}
