// Merge sort. `sort_tiles` sorts a tile of two elements per thread in shared memory; `merge_runs` then doubles the
// length of the sorted runs, one launch per doubling. Both divide the work by output: a thread finds by binary search
// where its piece of the merged output begins in the two runs, and merges that piece serially.
#include <heddle/device.h>

enum { TILE_CHUNK = 2, RUN_CHUNK = 8 };

// Returns how many of the first `rank` elements of the merged a and b come from a; equal elements of a come first.
static __device__ __forceinline__ int split_rank(const int *a, int n_a, const int *b, int n_b, int rank) {
    int low = max(0, rank - n_b), high = min(rank, n_a);
#pragma unroll 1
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] <= b[rank - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Writes elements [begin, begin + count) of the result of merging the runs of `width` in `in`, which holds n elements.
static __device__ __forceinline__ void merge_piece(const int *in, int *out, int n, int width, int begin, int count) {
    int start = begin / (2 * width) * (2 * width);
    int n_a = min(width, n - start), n_b = min(width, n - start - n_a);
    const int *a = in + start, *b = a + n_a;
    int rank = begin - start, end = min(begin + count, n);
    int i = split_rank(a, n_a, b, n_b, rank), j = rank - i;
#pragma unroll 1
    for (int k = begin; k < end; k++) {
        bool from_a = j >= n_b || (i < n_a && a[i] <= b[j]);
        out[k] = from_a ? a[i++] : b[j++];
    }
}

// Dynamic shared memory: two tiles.
extern "C" __global__ void sort_tiles(const int *in, int *out, int n) {
    extern __shared__ int shared[];
    int tile = TILE_CHUNK * blockDim.x, t = threadIdx.x;
#pragma unroll 1
    for (int first = blockIdx.x * tile; first < n; first += gridDim.x * tile) {
        int length = min(tile, n - first);
        int *from = shared, *to = shared + tile;
#pragma unroll 1
        for (int k = t; k < length; k += blockDim.x)
            from[k] = in[first + k];
        __syncthreads();
#pragma unroll 1
        for (int width = 1; width < length; width *= 2) {
            if (t * TILE_CHUNK < length)
                merge_piece(from, to, length, width, t * TILE_CHUNK, TILE_CHUNK);
            __syncthreads();
            int *swap = from;
            from = to;
            to = swap;
        }
#pragma unroll 1
        for (int k = t; k < length; k += blockDim.x)
            out[first + k] = from[k];
        __syncthreads();
    }
}

// `width` is a multiple of RUN_CHUNK or not smaller than n, so a piece never crosses from one pair of runs to the next.
extern "C" __global__ void merge_runs(const int *in, int *out, int n, int width) {
    int n_pieces = (n + RUN_CHUNK - 1) / RUN_CHUNK;
#pragma unroll 1
    for (int piece = blockIdx.x * blockDim.x + threadIdx.x; piece < n_pieces; piece += gridDim.x * blockDim.x)
        merge_piece(in, out, n, width, piece * RUN_CHUNK, RUN_CHUNK);
}
