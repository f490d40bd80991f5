// Bucket sort. Keys are divided into buckets of about a thousand by their upper bits: counted (`count_keys`), the
// counts summed (`place_buckets`), and the keys moved (`scatter_keys`), first to coarse buckets of FAN final ones and
// then to the final ones, so that a block always writes runs of neighbouring keys. `sort_buckets` loads a bucket into
// shared memory, divides it into small buckets by the next bits, and one thread sorts each small bucket by insertion.
// Keys in a bucket are in the order in which threads wrote them, until they are sorted.
#include <heddle/device.h>

enum { FAN = 32, SMALL_BUCKETS = 128, CAPACITY = 1536 };

// Buckets are upper bits of the key with its sign flipped, so that their order is that of the ints. `shift` is the
// number of bits below them.
static __device__ __forceinline__ int bits_above(int key, int shift) { return (int)((key ^ 0x80000000u) >> shift); }

// Makes counts[0] to counts[n - 1] in shared memory their exclusive prefix sums. All threads of a block call it;
// `partial` has a word for each of them.
static __device__ __forceinline__ void sum_up(unsigned *counts, unsigned *partial, int n) {
    int t = threadIdx.x, each = (n + blockDim.x - 1) / blockDim.x, first = min(t * each, n), end = min(first + each, n);
    unsigned sum = 0;
#pragma unroll 1
    for (int i = first; i < end; i++)
        sum += counts[i];
    partial[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (int distance = 1; distance < (int)blockDim.x; distance *= 2) {
        unsigned more = t >= distance ? partial[t - distance] : 0;
        __syncthreads();
        partial[t] += more;
        __syncthreads();
    }
    unsigned before = partial[t] - sum;
#pragma unroll 1
    for (int i = first; i < end; i++) {
        unsigned count = counts[i];
        counts[i] = before;
        before += count;
    }
    __syncthreads();
}

static __device__ __forceinline__ void clear(unsigned *counts, int n) {
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
}

// Dynamic shared memory: n_buckets words.
extern "C" __global__ void count_keys(const int *keys, int n, unsigned *counts, int n_buckets, int shift) {
    extern __shared__ unsigned own_counts[];
    clear(own_counts, n_buckets);
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own_counts[bits_above(keys[i], shift)], 1u);
    __syncthreads();
#pragma unroll 1
    for (int b = threadIdx.x; b < n_buckets; b += blockDim.x)
        if (own_counts[b])
            atomicAdd(&counts[b], own_counts[b]);
}

// One block. starts[b] is where bucket b begins, starts[n_buckets] where the last ends; `next` is a copy of the former,
// and next_coarse has every FAN-th of them. Dynamic shared memory: n_buckets words and one for each thread.
extern "C" __global__ void place_buckets(const unsigned *counts, unsigned *starts, unsigned *next,
                                         unsigned *next_coarse, int n_buckets, unsigned n) {
    extern __shared__ unsigned sums[];
#pragma unroll 1
    for (int b = threadIdx.x; b < n_buckets; b += blockDim.x)
        sums[b] = counts[b];
    __syncthreads();
    sum_up(sums, sums + n_buckets, n_buckets);
#pragma unroll 1
    for (int b = threadIdx.x; b < n_buckets; b += blockDim.x) {
        starts[b] = next[b] = sums[b];
        if (b % FAN == 0)
            next_coarse[b / FAN] = sums[b];
    }
    if (threadIdx.x == 0)
        starts[n_buckets] = n;
}

// Puts n keys into `ordered` in shared memory, ordered by the bits from `shift` on, which are those of bucket
// first_bucket and the n_buckets - 1 after it. ends[b] becomes the end of bucket first_bucket + b in `ordered`. All
// threads of a block call it; `partial` has a word for each of them.
static __device__ __forceinline__ void order_keys(const int *keys, int n, int *ordered, unsigned *ends,
                                                  unsigned *partial, int first_bucket, int n_buckets, int shift) {
    clear(ends, n_buckets);
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&ends[bits_above(keys[i], shift) - first_bucket], 1u);
    __syncthreads();
    sum_up(ends, partial, n_buckets);
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += blockDim.x) { // moves each beginning to the end
        int key = keys[i];
        ordered[atomicAdd(&ends[bits_above(key, shift) - first_bucket], 1u)] = key;
    }
    __syncthreads();
}

// A block takes a tile of keys at a time and reserves room for all of them in a bucket with one atomic. The keys are
// already ordered by all bits of their bucket but those that distinguish FAN buckets, so a tile has few buckets.
// Dynamic shared memory: tile_keys words, one for each thread, and two times n_buckets words.
extern "C" __global__ void scatter_keys(const int *keys, int n, int *out, unsigned *next, int n_buckets, int shift,
                                        int tile_keys) {
    extern __shared__ unsigned shared[];
    int *tile = (int *)shared;
    unsigned *partial = shared + tile_keys, *ends = partial + blockDim.x, *moves = ends + n_buckets;
#pragma unroll 1
    for (int first = blockIdx.x * tile_keys; first < n; first += gridDim.x * tile_keys) {
        int n_here = min(tile_keys, n - first), first_bucket = bits_above(keys[first], shift) & ~(FAN - 1);
        int end_bucket = min(n_buckets, (bits_above(keys[first + n_here - 1], shift) | (FAN - 1)) + 1);
        order_keys(keys + first, n_here, tile, ends, partial, first_bucket, end_bucket - first_bucket, shift);
#pragma unroll 1
        for (int b = threadIdx.x; b < end_bucket - first_bucket; b += blockDim.x) {
            unsigned start = b ? ends[b - 1] : 0, count = ends[b] - start;
            if (count) // distance from a place in the tile to the place in `out`
                moves[b] = atomicAdd(&next[first_bucket + b], count) - start;
        }
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < n_here; i += blockDim.x)
            out[moves[bits_above(tile[i], shift) - first_bucket] + i] = tile[i];
        __syncthreads();
    }
}

static __device__ __forceinline__ void sort_by_insertion(int *keys, int n) {
#pragma unroll 1
    for (int i = 1; i < n; i++) {
        int key = keys[i], k = i;
#pragma unroll 1
        for (; k > 0 && keys[k - 1] > key; k--)
            keys[k] = keys[k - 1];
        keys[k] = key;
    }
}

// One block per bucket. `shift` is the number of bits below those of the small buckets. Dynamic shared memory: CAPACITY
// words, SMALL_BUCKETS words and one for each thread.
extern "C" __global__ void sort_buckets(int *keys, const unsigned *starts, int n_buckets, int shift) {
    extern __shared__ unsigned shared[];
    int *sorted = (int *)shared;
    unsigned *ends = shared + CAPACITY, *partial = ends + SMALL_BUCKETS;
#pragma unroll 1
    for (int b = blockIdx.x; b < n_buckets; b += gridDim.x) {
        int *bucket = keys + starts[b], n = starts[b + 1] - starts[b];
        order_keys(bucket, n, sorted, ends, partial, b * SMALL_BUCKETS, SMALL_BUCKETS, shift);
#pragma unroll 1
        for (int s = threadIdx.x; s < SMALL_BUCKETS; s += blockDim.x) {
            int start = s ? ends[s - 1] : 0;
            sort_by_insertion(sorted + start, ends[s] - start);
        }
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            bucket[i] = sorted[i];
        __syncthreads();
    }
}

// The same with n_small small buckets and room for `capacity` keys, so that larger blocks have a small bucket for each
// thread too. Dynamic shared memory: capacity words, n_small words and one for each thread.
extern "C" __global__ void sort_large_buckets(int *keys, const unsigned *starts, int n_buckets, int shift, int n_small,
                                              int capacity) {
    extern __shared__ unsigned shared[];
    int *sorted = (int *)shared;
    unsigned *ends = shared + capacity, *partial = ends + n_small;
#pragma unroll 1
    for (int b = blockIdx.x; b < n_buckets; b += gridDim.x) {
        int *bucket = keys + starts[b], n = starts[b + 1] - starts[b];
        order_keys(bucket, n, sorted, ends, partial, b * n_small, n_small, shift);
#pragma unroll 1
        for (int s = threadIdx.x; s < n_small; s += blockDim.x) {
            int start = s ? ends[s - 1] : 0;
            sort_by_insertion(sorted + start, ends[s] - start);
        }
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            bucket[i] = sorted[i];
        __syncthreads();
    }
}
