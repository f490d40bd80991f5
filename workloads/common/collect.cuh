// Collects the results of those lanes that have one, in consecutive elements: for hashjoin, indexjoin and query.
//
// A warp collects values of 32 or 64 bits in its own buffer of 1 KB in shared memory. A full buffer is moved in whole
// lines to the common output of all warps, where one atomic addition reserves their place. The output has room for
// `most` values: n_out[0] of them are at its beginning, and n_out[1], the warps' remainders, at its end. The algorithm
// is that of Narasiman 2014, section 6.2.2; with HAS_COND_ACC its middle step is one instruction (7.1). workloads/scan
// has the same for single values. Warps have 32 threads, and all threads of a warp call these functions together.
#pragma once
#include "heddle/device.h"

typedef unsigned long long collect_pair;

enum { COLLECT_BYTES = 1024, COLLECT_STEP = 32, COLLECT_ALL_LANES = -1 };

template <class value> struct collect_output {
    value *values;
    unsigned *n_out;
    unsigned most;
};

// Returns the number of values at which a buffer must be flushed before the next 32 are added.
template <class value> __device__ constexpr unsigned collect_full() {
    return COLLECT_BYTES / sizeof(value) - COLLECT_STEP;
}

// Returns the calling warp's part of the block's dynamic shared memory.
template <class value> __device__ __forceinline__ value *collect_buffer() {
    extern __shared__ unsigned long long collect_memory[];
    return (value *)collect_memory + threadIdx.x / COLLECT_STEP * (COLLECT_BYTES / sizeof(value));
}

__device__ __forceinline__ collect_pair collect_make(unsigned left, unsigned right) {
    return (collect_pair)left << 32 | right;
}

// Adds the values of the lanes that pass to the buffer from n on; returns their number.
template <bool HAS_COND_ACC, class value>
__device__ __forceinline__ unsigned collect_add(value *buffer, unsigned n, bool passes, value mine, unsigned lane) {
    if (HAS_COND_ACC)
        return __heddle_cond_acc_shared((unsigned)__cvta_generic_to_shared(buffer + n), passes, mine);
    unsigned lanes = __ballot_sync(COLLECT_ALL_LANES, passes);
    if (passes)
        buffer[n + __popc(lanes & ((1u << lane) - 1))] = mine;
    return __popc(lanes);
}

// Moves whole lines of a full buffer with n values to the output and the rest to the buffer's beginning; returns the
// number of values that remain.
template <class value>
__device__ __forceinline__ unsigned collect_flush(value *buffer, unsigned n, const collect_output<value> &out,
                                                  unsigned lane) {
    const unsigned full = collect_full<value>();
    unsigned place = 0;
    __syncwarp();
    if (lane == 0)
        place = atomicAdd(out.n_out, full);
    place = __shfl_sync(COLLECT_ALL_LANES, place, 0);
#pragma unroll 1
    for (unsigned i = lane; i < full; i += COLLECT_STEP)
        out.values[place + i] = buffer[i];
    value last = buffer[full + lane];
    __syncwarp();
    buffer[lane] = last;
    __syncwarp();
    return n - full;
}

// Moves the remainder to the other end of the output, before what is already there, so that the lines stay whole.
template <class value>
__device__ __forceinline__ void collect_end(const value *buffer, unsigned n, const collect_output<value> &out,
                                            unsigned lane) {
    unsigned place = 0;
    __syncwarp();
    if (lane == 0)
        place = atomicAdd(out.n_out + 1, n);
    place = out.most - n - __shfl_sync(COLLECT_ALL_LANES, place, 0);
#pragma unroll 1
    for (unsigned i = lane; i < n; i += COLLECT_STEP)
        out.values[place + i] = buffer[i];
}
