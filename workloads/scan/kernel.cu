// Full table scan: SELECT c0 FROM table WHERE c0 IN range AND c1 IN range ..., the table stored by columns.
//
// A warp takes 32 neighbouring rows at a time and collects the rows that pass in its own buffer in shared memory. A
// full buffer is moved in whole lines to the common output of all warps, where one atomic addition reserves their
// place. The output has room for all rows: n_out[0] results at its beginning, and n_out[1], the warps' remainders, at
// its end. The algorithm is that of Narasiman 2014, section 6.2.2. Its middle step has two versions: that of today's
// GPUs, collect_by_ballot(), and one instruction (7.1). The `skip` kernels leave it out where no row of a warp passes
// (8.2.1).
//
// A condition is a range of unsigned numbers, low to low + span: value - low <= span. So one comparison covers =, <, >
// and BETWEEN. Warps have 32 threads; n_rows is a multiple of 32.
#include "heddle/device.h"

enum { BUFFER = 256, LINE = 32, FULL = BUFFER - LINE, ALL_LANES = -1 };

struct query {
    const unsigned *column[4];
    unsigned low[4], span[4];
    unsigned n_rows;
};

// Adds the values of the lanes that pass to the buffer from n on; returns their number. below: the lanes before this
// one.
__device__ __forceinline__ unsigned collect_by_ballot(unsigned *buffer, unsigned n, bool passes, unsigned value,
                                                      unsigned below) {
    unsigned lanes = __ballot_sync(ALL_LANES, passes);
    if (passes)
        buffer[n + __popc(lanes & below)] = value;
    return __popc(lanes);
}

// Moves whole lines of the buffer to the output and the rest to the buffer's beginning; returns the number of elements
// that remain.
__device__ __forceinline__ unsigned flush(unsigned *buffer, unsigned n, unsigned *out, unsigned *n_out, unsigned lane) {
    unsigned place = 0;
    __syncwarp();
    if (lane == 0)
        place = atomicAdd(n_out, FULL);
    place = __shfl_sync(ALL_LANES, place, 0);
#pragma unroll 1
    for (unsigned i = 0; i < FULL; i += LINE)
        out[place + i + lane] = buffer[i + lane];
    unsigned last = buffer[FULL + lane];
    __syncwarp();
    buffer[lane] = last;
    __syncwarp();
    return n - FULL;
}

// Moves the remainder of a buffer to the other end of the output, before what is already there, so that the lines stay
// whole.
__device__ __forceinline__ void flush_rest(const unsigned *buffer, unsigned n, unsigned *out, unsigned *n_rest,
                                           unsigned n_rows, unsigned lane) {
    unsigned place = 0;
    __syncwarp();
    if (lane == 0)
        place = atomicAdd(n_rest, n);
    place = n_rows - n - __shfl_sync(ALL_LANES, place, 0);
#pragma unroll 1
    for (unsigned i = lane; i < n; i += LINE)
        out[place + i] = buffer[i];
}

template <int COLUMNS, bool HAS_COND_ACC, bool SKIPS>
__device__ __forceinline__ void scan(const query &q, unsigned *out, unsigned *n_out) {
    extern __shared__ unsigned buffers[];
    unsigned lane = threadIdx.x % LINE, warp = threadIdx.x / LINE;
    unsigned n_threads = gridDim.x * blockDim.x, n = 0;
    unsigned *buffer = buffers + warp * BUFFER;
    unsigned base = (unsigned)__cvta_generic_to_shared(buffer);
    const unsigned *column[COLUMNS];
    unsigned low[COLUMNS], span[COLUMNS], n_rows = q.n_rows; // kept in registers while the buffer is written
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        column[c] = q.column[c];
        low[c] = q.low[c];
        span[c] = q.span[c];
    }
#pragma unroll 1
    for (unsigned row = blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += n_threads) {
        unsigned value = column[0][row];
        bool others = true;
#pragma unroll
        for (int c = 1; c < COLUMNS; c++)
            others &= column[c][row] - low[c] <= span[c];
        if (SKIPS && !__any_sync(ALL_LANES, others & (value - low[0] <= span[0])))
            continue;
        if (!HAS_COND_ACC)
            n += collect_by_ballot(buffer, n, others & (value - low[0] <= span[0]), value, (1u << lane) - 1);
        else if (COLUMNS == 1)
            n += __heddle_cond_acc_shared_le(base + n * 4, value - low[0], span[0], value);
        else
            n += __heddle_cond_acc_shared(base + n * 4, others & (value - low[0] <= span[0]), value);
        if (n >= FULL)
            n = flush(buffer, n, out, n_out, lane);
    }
    flush_rest(buffer, n, out, n_out + 1, n_rows, lane);
}

#define SCAN(name, columns, has_cond_acc, skips)                                                                       \
    extern "C" __global__ void name##_##columns(query q, unsigned *out, unsigned *n_out) {                             \
        scan<columns, has_cond_acc, skips>(q, out, n_out);                                                             \
    }
#define SCANS(columns)                                                                                                 \
    SCAN(scan, columns, false, false)                                                                                  \
    SCAN(scan_cond_acc, columns, true, false)                                                                          \
    SCAN(scan_skip, columns, false, true)                                                                              \
    SCAN(scan_cond_acc_skip, columns, true, true)
SCANS(1)
SCANS(2)
SCANS(3)
SCANS(4)
