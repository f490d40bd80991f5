// A parallel loop over tasks as Meng 2010 shares it out (section 3.1): neighbouring tasks go to threads of one warp, in
// stretches of 16 threads. The stretches go round the blocks, so that few tasks are shared by all blocks too.
//
//     for (int task = first_task(); task < n_tasks; task += n_threads()) {
//         ...
//         end_task(rejoins);
//     }
//
// The end of a task is a synchronization point, where the threads of a warp wait for each other (section 6.6), unless
// `--rejoin launch` says that only the end of the launch is one.
#pragma once

#include <heddle/device.h>

static __device__ __forceinline__ int n_threads() { return gridDim.x * blockDim.x; }

static __device__ __forceinline__ int first_task() {
    int stretch = blockDim.x % 16 ? blockDim.x : 16;
    return (threadIdx.x / stretch * gridDim.x + blockIdx.x) * stretch + threadIdx.x % stretch;
}

// Threads that have no task left have ended, or will; the others do not wait for them.
static __device__ __forceinline__ void end_task(int rejoins) {
    if (rejoins)
        __syncwarp();
}
