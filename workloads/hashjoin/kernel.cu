// Hash join: SELECT r.row, s.row FROM r JOIN s ON r.key = s.key, the keys of r being unique.
//
// hash_build puts every key of r with its row into a table of open addressing: a compare-and-swap takes the first free
// slot from the key's own on. hash_probe looks up the keys of s in it, one row per lane, and collects the pairs of rows
// with common/collect.cuh. The number of slots is a power of two, and at most half are used, so that searches end.
#include "../common/collect.cuh"

enum { NO_KEY = -1 };

struct hash_table {
    unsigned *keys, *rows;
    unsigned shift; // 32 - log2 of the slots
};

// Knuth's multiplicative hashing.
__device__ __forceinline__ unsigned home(const hash_table &t, unsigned key) { return key * 2654435769u >> t.shift; }
__device__ __forceinline__ unsigned after(const hash_table &t, unsigned slot) {
    return (slot + 1) & (0xffffffffu >> t.shift);
}

extern "C" __global__ void hash_build(hash_table t, const unsigned *keys, unsigned n) {
#pragma unroll 1
    for (unsigned row = blockIdx.x * blockDim.x + threadIdx.x; row < n; row += gridDim.x * blockDim.x) {
        unsigned key = keys[row], slot = home(t, key);
#pragma unroll 1
        while (atomicCAS(&t.keys[slot], (unsigned)NO_KEY, key) != (unsigned)NO_KEY)
            slot = after(t, slot);
        t.rows[slot] = row;
    }
}

template <bool HAS_COND_ACC>
__device__ __forceinline__ void probe(const hash_table &t, const unsigned *keys, unsigned n,
                                      const collect_output<collect_pair> &out) {
    unsigned lane = threadIdx.x % COLLECT_STEP, n_threads = gridDim.x * blockDim.x, n_buffer = 0;
    collect_pair *buffer = collect_buffer<collect_pair>();
#pragma unroll 1
    for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < n; first += n_threads) {
        unsigned row = first + lane, other = 0;
        bool passes = false;
        if (row < n) {
            unsigned key = keys[row], slot = home(t, key), found;
#pragma unroll 1
            while ((found = t.keys[slot]) != key && found != (unsigned)NO_KEY)
                slot = after(t, slot);
            passes = found == key;
            if (passes)
                other = t.rows[slot];
        }
        n_buffer += collect_add<HAS_COND_ACC>(buffer, n_buffer, passes, collect_make(other, row), lane);
        if (n_buffer >= collect_full<collect_pair>())
            n_buffer = collect_flush(buffer, n_buffer, out, lane);
    }
    collect_end(buffer, n_buffer, out, lane);
}

extern "C" __global__ void hash_probe(hash_table t, const unsigned *keys, unsigned n,
                                      collect_output<collect_pair> out) {
    probe<false>(t, keys, n, out);
}
extern "C" __global__ void hash_probe_cond_acc(hash_table t, const unsigned *keys, unsigned n,
                                               collect_output<collect_pair> out) {
    probe<true>(t, keys, n, out);
}
