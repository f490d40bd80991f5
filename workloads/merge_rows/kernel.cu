// Merge sort without shared memory: each launch doubles the length of the sorted runs. The output is divided into
// pieces: a thread finds by binary search where its piece begins in the two runs, and merges the piece serially.
#include "../common/tasks.cuh"

// Returns how many of the first `rank` elements of the merged a and b come from a; equal elements of a come first.
static __device__ __forceinline__ int split_rank(const long long *a, int n_a, const long long *b, int n_b, int rank) {
    int low = max(0, rank - n_b), high = min(rank, n_a);
#pragma unroll 1
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] <= b[rank - 1 - middle]) {
            asm volatile(""); // a branch, not a select
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Merges each two runs of `width`, in pieces of `piece` elements, which divides 2 * width.
extern "C" __global__ void merge_runs(const long long *in, long long *out, int n, int width, int piece, int rejoins) {
    const long long none = 0x7fffffffffffffff; // not smaller than any element
#pragma unroll 1
    for (int begin = first_task() * piece; begin < n; begin += n_threads() * piece) {
        int start = begin / (2 * width) * (2 * width);
        int n_a = min(width, n - start), n_b = min(width, n - start - n_a);
        const long long *a = in + start, *b = a + n_a, *end_a = b, *end_b = b + n_b;
        int rank = begin - start, end = min(begin + piece, n), from_a = split_rank(a, n_a, b, n_b, rank);
        a += from_a;
        b += rank - from_a;
        long long x = a < end_a ? *a : none, y = b < end_b ? *b : none;
#pragma unroll 1
        for (int k = begin; k < end; k++) {
            bool is_from_a = x <= y;
            const long long *next = (is_from_a ? a : b) + 1, *last = is_from_a ? end_a : end_b;
            out[k] = is_from_a ? x : y;
            long long z = next < last ? *next : none;
            x = is_from_a ? z : x;
            y = is_from_a ? y : z;
            a = is_from_a ? next : a;
            b = is_from_a ? b : next;
        }
        end_task(rejoins);
    }
}
