// Index join: SELECT r.row, s.row FROM r JOIN s ON r.key = s.key, where r has an index on its key and is sorted by it.
//
// A warp takes 32 neighbouring rows of s at a time, one per lane, and searches for their keys one after the other
// (common/index_search.cuh); the lanes that found a partner then write their pairs to consecutive elements
// (common/collect.cuh).
#include "../common/collect.cuh"
#include "../common/index_search.cuh"

template <bool IS_EXTENDED>
__device__ __forceinline__ void join(const index_tree &t, const unsigned *keys, unsigned n,
                                     const collect_output<collect_pair> &out) {
    unsigned lane = threadIdx.x % COLLECT_STEP, n_threads = gridDim.x * blockDim.x, n_buffer = 0;
    collect_pair *buffer = collect_buffer<collect_pair>();
#pragma unroll 1
    for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < n; first += n_threads) {
        unsigned n_rows = min(n - first, (unsigned)COLLECT_STEP), mine = lane < n_rows ? keys[first + lane] : 0,
                 row = 0;
        bool is_found = false;
#pragma unroll 1
        for (unsigned i = 0; i < n_rows; i++) {
            unsigned key = __shfl_sync(COLLECT_ALL_LANES, mine, i);
            index_place place = index_find<IS_EXTENDED, IS_EXTENDED>(t, key, lane);
            if (lane == i) {
                row = place.next - place.leaf; // 30 keys per leaf
                is_found = place.is_found;
            }
        }
        n_buffer += collect_add<IS_EXTENDED>(buffer, n_buffer, is_found, collect_make(row, first + lane), lane);
        if (n_buffer >= collect_full<collect_pair>())
            n_buffer = collect_flush(buffer, n_buffer, out, lane);
    }
    collect_end(buffer, n_buffer, out, lane);
}

extern "C" __global__ void indexjoin_plain(index_tree t, const unsigned *keys, unsigned n,
                                           collect_output<collect_pair> out) {
    join<false>(t, keys, n, out);
}
extern "C" __global__ void indexjoin_extended(index_tree t, const unsigned *keys, unsigned n,
                                              collect_output<collect_pair> out) {
    join<true>(t, keys, n, out);
}
