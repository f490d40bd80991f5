// Results that some lanes have and others have not, written side by side: hashjoin and indexjoin.
//
// A warp collects pairs of 32 bits each in a buffer of its own in shared memory. A full buffer goes to the output,
// which all warps share, in whole lines: one atomic addition takes their place. The output has room for `most` pairs:
// n_out[0] of them are at its begin, and n_out[1], what the warps had left, at its end. The algorithm is that of
// Narasiman 2014, section 6.2.2; the step in the middle is one instruction with HAS_COND_ACC (7.1). workloads/scan has
// the same for single values. Warps have 32 threads, and all of a warp call these functions together.
#pragma once
#include "heddle/device.h"

typedef unsigned long long collect_pair;

enum { COLLECT_BUFFER = 128, COLLECT_STEP = 32, COLLECT_FULL = COLLECT_BUFFER - COLLECT_STEP, COLLECT_EVERYBODY = -1 };

struct collect_output {
    collect_pair *pairs;
    unsigned *n_out;
    unsigned most;
};

__device__ __forceinline__ collect_pair collect_make(unsigned left, unsigned right) {
    return (collect_pair)left << 32 | right;
}

// The pairs of the lanes that pass are in the buffer from n on; how many they are.
template <bool HAS_COND_ACC>
__device__ __forceinline__ unsigned collect_add(collect_pair *buffer, unsigned n, bool passes, collect_pair pair,
                                                unsigned lane) {
    if (HAS_COND_ACC)
        return __heddle_cond_acc_shared((unsigned)__cvta_generic_to_shared(buffer + n), passes, pair);
    unsigned lanes = __ballot_sync(COLLECT_EVERYBODY, passes);
    if (passes)
        buffer[n + __popc(lanes & ((1u << lane) - 1))] = pair;
    return __popc(lanes);
}

// Moves whole lines of a buffer with n pairs, COLLECT_FULL or more, to the output and the rest to the buffer's begin;
// how many the rest has.
__device__ __forceinline__ unsigned collect_flush(collect_pair *buffer, unsigned n, const collect_output &out,
                                                  unsigned lane) {
    unsigned place = 0;
    __syncwarp();
    if (lane == 0)
        place = atomicAdd(out.n_out, (unsigned)COLLECT_FULL);
    place = __shfl_sync(COLLECT_EVERYBODY, place, 0);
#pragma unroll 1
    for (unsigned i = lane; i < COLLECT_FULL; i += COLLECT_STEP)
        out.pairs[place + i] = buffer[i];
    collect_pair last = buffer[COLLECT_FULL + lane];
    __syncwarp();
    buffer[lane] = last;
    __syncwarp();
    return n - COLLECT_FULL;
}

// What is left goes to the other end of the output, before what is there, so that the lines stay whole.
__device__ __forceinline__ void collect_end(const collect_pair *buffer, unsigned n, const collect_output &out,
                                            unsigned lane) {
    unsigned place = 0;
    __syncwarp();
    if (lane == 0)
        place = atomicAdd(out.n_out + 1, n);
    place = out.most - n - __shfl_sync(COLLECT_EVERYBODY, place, 0);
#pragma unroll 1
    for (unsigned i = lane; i < n; i += COLLECT_STEP)
        out.pairs[place + i] = buffer[i];
}
