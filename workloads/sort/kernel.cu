// Bucket sort in two levels. The first level shares the keys out to buckets of about a thousand by their upper bits: it
// counts (`count_keys`), sums the counts up (`place_buckets`) and moves the keys (`scatter_keys`). The second level
// (`sort_buckets`) takes a bucket into shared memory, shares it out to small buckets by the next bits, and one thread
// sorts each small bucket by insertion. Keys fall into a bucket in the order in which threads come; the sorting removes
// it.
#include <heddle/device.h>

enum { SMALL_BUCKETS = 128, SMALL_BITS = 7, CAPACITY = 1536, KEYS_A_THREAD = 8 };

// Buckets are upper bits of the key with its sign flipped, so that their order is that of the ints. `shift` is how many
// bits are below them, 31 at most.
static __device__ __forceinline__ unsigned bits_above(int key, int shift) { return (key ^ 0x80000000u) >> shift; }

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

// One block. starts[b] is where bucket b begins, starts[n_buckets] where the last ends; `next` is a copy of the former.
// Dynamic shared memory: n_buckets words and one for each thread.
extern "C" __global__ void place_buckets(const unsigned *counts, unsigned *starts, unsigned *next, int n_buckets,
                                         unsigned n) {
    extern __shared__ unsigned sums[];
#pragma unroll 1
    for (int b = threadIdx.x; b < n_buckets; b += blockDim.x)
        sums[b] = counts[b];
    __syncthreads();
    sum_up(sums, sums + n_buckets, n_buckets);
#pragma unroll 1
    for (int b = threadIdx.x; b < n_buckets; b += blockDim.x)
        starts[b] = next[b] = sums[b];
    if (threadIdx.x == 0)
        starts[n_buckets] = n;
}

// A block takes KEYS_A_THREAD keys a thread at a time, and for them room in each bucket with one atomic.
// Dynamic shared memory: n_buckets words.
extern "C" __global__ void scatter_keys(const int *keys, int n, int *out, unsigned *next, int n_buckets, int shift) {
    extern __shared__ unsigned places[];
    int tile = KEYS_A_THREAD * blockDim.x;
#pragma unroll 1
    for (int first = blockIdx.x * tile; first < n; first += gridDim.x * tile) {
        unsigned rank[KEYS_A_THREAD];
        int key[KEYS_A_THREAD];
        clear(places, n_buckets);
#pragma unroll
        for (int k = 0; k < KEYS_A_THREAD; k++) {
            int i = first + k * blockDim.x + threadIdx.x;
            key[k] = i < n ? keys[i] : 0;
            rank[k] = i < n ? atomicAdd(&places[bits_above(key[k], shift)], 1u) : 0;
        }
        __syncthreads();
#pragma unroll 1
        for (int b = threadIdx.x; b < n_buckets; b += blockDim.x)
            if (places[b])
                places[b] = atomicAdd(&next[b], places[b]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS_A_THREAD; k++)
            if (first + k * (int)blockDim.x + (int)threadIdx.x < n)
                out[places[bits_above(key[k], shift)] + rank[k]] = key[k];
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

// A block a bucket. `shift` is how many bits are below those of the small buckets.
// Dynamic shared memory: two times CAPACITY words, SMALL_BUCKETS words and one for each thread.
extern "C" __global__ void sort_buckets(int *keys, const unsigned *starts, int n_buckets, int shift) {
    extern __shared__ unsigned shared[];
    int *loaded = (int *)shared, *sorted = loaded + CAPACITY, t = threadIdx.x;
    unsigned *ends = shared + 2 * CAPACITY, *partial = ends + SMALL_BUCKETS;
#pragma unroll 1
    for (int b = blockIdx.x; b < n_buckets; b += gridDim.x) {
        int *bucket = keys + starts[b], n = starts[b + 1] - starts[b];
        clear(ends, SMALL_BUCKETS);
#pragma unroll 1
        for (int i = t; i < n; i += blockDim.x) {
            loaded[i] = bucket[i];
            atomicAdd(&ends[bits_above(loaded[i], shift) % SMALL_BUCKETS], 1u);
        }
        __syncthreads();
        sum_up(ends, partial, SMALL_BUCKETS);
#pragma unroll 1
        for (int i = t; i < n; i += blockDim.x) // moves each start of a small bucket to its end
            sorted[atomicAdd(&ends[bits_above(loaded[i], shift) % SMALL_BUCKETS], 1u)] = loaded[i];
        __syncthreads();
#pragma unroll 1
        for (int s = t; s < SMALL_BUCKETS; s += blockDim.x) {
            int start = s ? ends[s - 1] : 0;
            sort_by_insertion(sorted + start, ends[s] - start);
        }
        __syncthreads();
#pragma unroll 1
        for (int i = t; i < n; i += blockDim.x)
            bucket[i] = sorted[i];
        __syncthreads();
    }
}
