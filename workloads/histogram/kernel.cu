// Counts of the 256 byte values. `histogram`: each block counts into its own copy in shared memory with shared-memory
// atomics, and adds the copy to the result in global memory at the end. Characters are read four at a time.
// `histogram_private`: each thread counts ASCII characters into counters of its own, a character at a time, and the
// block adds them up whenever one might overflow.
#include <heddle/device.h>

enum { BINS = 256 };

extern "C" __global__ void histogram(const unsigned *text, unsigned *bins, int n_words) {
    __shared__ unsigned count[BINS];
#pragma unroll 1
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        count[b] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_words; i += gridDim.x * blockDim.x) {
        unsigned four = text[i];
        atomicAdd(&count[four & 0xff], 1u);
        atomicAdd(&count[four >> 8 & 0xff], 1u);
        atomicAdd(&count[four >> 16 & 0xff], 1u);
        atomicAdd(&count[four >> 24], 1u);
    }
    __syncthreads();
#pragma unroll 1
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (count[b])
            atomicAdd(&bins[b], count[b]);
}

enum { ASCII = 128, MOST_COUNTED = 255 }; // a counter is a byte

// Counter c of thread t is at byte (c & ~3) * blockDim.x + 4 * t + (c & 3): each thread has a bank of its own.
// `own` is the first of the thread.
static __device__ __forceinline__ unsigned char *counter_of(unsigned char *own, unsigned c) {
    return own + ((c & ~3u) * blockDim.x + (c & 3));
}

static __device__ __forceinline__ void clear_counters(unsigned *words) {
#pragma unroll 8
    for (int k = 0; k < ASCII / 4; k++)
        words[k * blockDim.x + threadIdx.x] = 0;
}

// Adds the threads' counters to the result: PARTS threads for each word of four counters, each of them a part of the
// threads. Halves of a word hold sums up to 65535, enough for 256 counters.
static __device__ __forceinline__ void add_up(const unsigned *words, unsigned *bins) {
    enum { PARTS = 8 };
    unsigned n = blockDim.x / PARTS;
    __syncthreads();
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < ASCII / 4 * PARTS; k += blockDim.x) {
        const unsigned *part = words + k / PARTS * blockDim.x + k % PARTS * n;
        unsigned even = 0, odd = 0;
#pragma unroll 1
        for (unsigned i = 0; i < n; i++) {
            unsigned four = part[(i + threadIdx.x) % n]; // neighbours start at different banks
            even += four & 0x00ff00ff;
            odd += four >> 8 & 0x00ff00ff;
        }
        atomicAdd(&bins[k / PARTS * 4], even & 0xffff);
        atomicAdd(&bins[k / PARTS * 4 + 1], odd & 0xffff);
        atomicAdd(&bins[k / PARTS * 4 + 2], even >> 16);
        atomicAdd(&bins[k / PARTS * 4 + 3], odd >> 16);
    }
    __syncthreads();
}

// Dynamic shared memory: ASCII bytes for each thread. n is a multiple of the number of threads, and a block has a
// multiple of PARTS, at most 2048.
extern "C" __global__ void histogram_private(const unsigned char *text, unsigned *bins, int n) {
    extern __shared__ unsigned words[];
    unsigned char *own = (unsigned char *)(words + threadIdx.x);
    const unsigned char *end = text + n, *next = text + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned step = gridDim.x * blockDim.x;
#pragma unroll 1
    while (next < end) {
        clear_counters(words);
        const unsigned char *stop = end - next > (long)step * MOST_COUNTED ? next + (long)step * MOST_COUNTED : end;
#pragma unroll 1
        for (; next < stop; next += step) {
            unsigned char *counter = counter_of(own, *next);
            *counter = (unsigned char)(*counter + 1);
        }
        add_up(words, bins);
    }
}
