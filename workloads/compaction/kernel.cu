// Stream compaction: the elements below a limit, in their order and without gaps, in three launches. A block has a
// stretch of the input. `count` counts the elements that stay in each stretch, `offsets` adds up the counts before
// each, and `compact` moves the elements. Blocks are whole warps of 32 threads.
#include <heddle/device.h>

enum { LANES = 32, MOST_WARPS = 32, ALL_LANES = -1 };

extern "C" __global__ void count(const unsigned *in, unsigned *counts, unsigned limit, int stretch, int n) {
    __shared__ unsigned sum;
    int begin = blockIdx.x * stretch, end = min(begin + stretch, n);
    unsigned own = 0;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
        own += in[i] < limit;
    atomicAdd(&sum, own);
    __syncthreads();
    if (threadIdx.x == 0)
        counts[blockIdx.x] = sum;
}

// One thread: there are few blocks. counts[n_blocks] becomes the sum of all.
extern "C" __global__ void offsets(unsigned *counts, int n_blocks) {
    unsigned sum = 0;
#pragma unroll 1
    for (int b = 0; b <= n_blocks; b++) {
        unsigned own = b < n_blocks ? counts[b] : 0;
        counts[b] = sum;
        sum += own;
    }
}

// Each warp finds the places of its elements by a ballot, and the block those of its warps in shared memory.
extern "C" __global__ void compact(const unsigned *in, const unsigned *offset, unsigned *out, unsigned limit,
                                   int stretch, int n) {
    __shared__ unsigned of_warp[MOST_WARPS];
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, n_warps = blockDim.x / LANES;
    unsigned place = offset[blockIdx.x];
    int begin = blockIdx.x * stretch, end = min(begin + stretch, n);
#pragma unroll 1
    for (int first = begin; first < end; first += blockDim.x) {
        int i = first + threadIdx.x;
        unsigned value = i < end ? in[i] : limit;
        unsigned staying = __ballot_sync(ALL_LANES, value < limit);
        if (lane == 0)
            of_warp[warp] = __popc(staying);
        __syncthreads();
        unsigned before = 0, all = 0;
#pragma unroll 1
        for (unsigned k = 0; k < n_warps; k++) {
            before += k < warp ? of_warp[k] : 0;
            all += of_warp[k];
        }
        if (value < limit)
            out[place + before + __popc(staying & ((1u << lane) - 1))] = value;
        place += all;
        __syncthreads();
    }
}
