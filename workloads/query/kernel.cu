// The kernels of `heddle query`: rows of a table, stored by columns, that meet conditions, and the selected columns or
// aggregates.
//
// Values are signed numbers with their sign bit inverted, so that they order as unsigned ones. A condition is a range
// or its complement, which covers =, <, <=, >, >=, <> and BETWEEN. query_filter collects the numbers of the rows that
// meet all of them (common/collect.cuh), of a whole table or of candidates from an index. query_find searches the index
// (common/index_search.cuh).
#include "../common/collect.cuh"
#include "../common/index_search.cuh"

enum { MOST_CONDITIONS = 8, SIGN = 1u << 31 };

struct condition {
    const unsigned *column;
    unsigned low, span; // from low to low + span
    unsigned is_outside;
};

struct conditions {
    condition item[MOST_CONDITIONS];
    unsigned n;
};

// candidates: rows, or NULL for the rows 0 to n - 1.
template <bool IS_EXTENDED>
__device__ __forceinline__ void filter(const conditions &all, const unsigned *candidates, unsigned n,
                                       const collect_output<unsigned> &out) {
    unsigned lane = threadIdx.x % COLLECT_STEP, n_threads = gridDim.x * blockDim.x, n_buffer = 0;
    unsigned *buffer = collect_buffer<unsigned>();
#pragma unroll 1
    for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < n; first += n_threads) {
        unsigned i = first + lane, row = 0;
        bool passes = i < n;
        if (passes) {
            row = candidates ? candidates[i] : i;
#pragma unroll 1
            for (unsigned c = 0; c < all.n; c++) {
                const condition &condition = all.item[c];
                passes &= (condition.column[row] - condition.low <= condition.span) != condition.is_outside;
            }
        }
        n_buffer += collect_add<IS_EXTENDED>(buffer, n_buffer, passes, row, lane);
        if (n_buffer >= collect_full<unsigned>())
            n_buffer = collect_flush(buffer, n_buffer, out, lane);
    }
    collect_end(buffer, n_buffer, out, lane);
}

extern "C" __global__ void query_filter(conditions all, const unsigned *candidates, unsigned n,
                                        collect_output<unsigned> out) {
    filter<false>(all, candidates, n, out);
}
extern "C" __global__ void query_filter_extended(conditions all, const unsigned *candidates, unsigned n,
                                                 collect_output<unsigned> out) {
    filter<true>(all, candidates, n, out);
}

// One warp; *rank is the key's rank, or the number of keys.
template <bool IS_EXTENDED> __device__ __forceinline__ void find(const index_tree &t, unsigned key, unsigned *rank) {
    index_place place = index_find<IS_EXTENDED, IS_EXTENDED>(t, key, threadIdx.x);
    if (threadIdx.x == 0)
        *rank = place.is_found ? place.next - place.leaf : t.n_keys; // 30 keys per leaf
}

extern "C" __global__ void query_find(index_tree t, unsigned key, unsigned *rank) { find<false>(t, key, rank); }
extern "C" __global__ void query_find_extended(index_tree t, unsigned key, unsigned *rank) { find<true>(t, key, rank); }

// Gathers a column's values in these rows.
extern "C" __global__ void query_gather(const unsigned *column, const unsigned *rows, unsigned n, int *out) {
#pragma unroll 1
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = (int)(column[rows[i]] ^ SIGN);
}

struct aggregates {
    unsigned long long sum; // of signed values
    int least, most;
};

extern "C" __global__ void query_aggregate(const unsigned *column, const unsigned *rows, unsigned n, aggregates *out) {
    unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    long long sum = 0;
    int least = 2147483647, most = -least - 1;
#pragma unroll 1
    for (unsigned i = first; i < n; i += gridDim.x * blockDim.x) {
        int value = (int)(column[rows[i]] ^ SIGN);
        sum += value;
        least = min(least, value);
        most = max(most, value);
    }
    if (first < n) {
        atomicAdd(&out->sum, (unsigned long long)sum);
        atomicMin(&out->least, least);
        atomicMax(&out->most, most);
    }
}
