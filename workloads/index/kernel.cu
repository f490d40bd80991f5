// Index search: finds the row of a table that has a key. One query per warp, one node of the index per load;
// common/index_search.cuh has the index and the search. The table is sorted by the key, so that the position in the
// leaves is the row.
//
// A warp takes 32 neighbouring queries at a time, one per lane, and searches for them one after the other.
#include "../common/index_search.cuh"

template <bool HAS_TRAVERSE, bool HAS_HINT>
__device__ __forceinline__ void search(const index_tree &t, const unsigned *queries, unsigned n_queries,
                                       unsigned *rows) {
    unsigned lane = threadIdx.x % 32, n_threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < n_queries; first += n_threads) {
        unsigned n = min(n_queries - first, 32u), mine = lane < n ? queries[first + lane] : 0, row = 0;
#pragma unroll 1
        for (unsigned i = 0; i < n; i++) {
            index_place place = index_find<HAS_TRAVERSE, HAS_HINT>(t, __shfl_sync(INDEX_ALL_LANES, mine, i), lane);
            if (lane == i)
                row = place.is_found ? place.next - place.leaf : t.n_keys; // 30 keys per leaf
        }
        if (lane < n)
            rows[first + lane] = row;
    }
}

#define SEARCH(name, has_traverse, has_hint)                                                                           \
    extern "C" __global__ void name(index_tree t, const unsigned *queries, unsigned n_queries, unsigned *rows) {       \
        search<has_traverse, has_hint>(t, queries, n_queries, rows);                                                   \
    }
SEARCH(index_plain, false, false)
SEARCH(index_traverse, true, false)
SEARCH(index_hint, false, true)
SEARCH(index_both, true, true)
