// Changes an index in batches: a key that is present gets a new value, v = v + x, and a missing one is inserted.
//
// The index has no pointers (common/index_search.cuh), so a node cannot be split: leaves have spare room instead. The
// values are in a separate array, at the positions of their keys. Two kernels change it without locks:
//
// insert_find: one operation per warp. It finds the leaf; an update adds to the value; an insertion joins the waiting
// list of its leaf, and the first on such a list adds the leaf to a list of leaves. insert_merge: one leaf of that list
// per warp. Each lane has a key of the leaf and a waiting one, counts the keys that will precede each of them, and
// writes both to their new positions. Where there is too little room, nothing is inserted.
#include "../common/index_search.cuh"

enum { LEAF_KEYS = 30, PLACES = 32, MISSED = 0, UPDATED = 1, INSERTED = 2 };

struct batch {
    const unsigned *keys, *numbers; // of each operation: its key, and what is added or inserted
    unsigned *outcome;              // of each operation; MISSED before
    unsigned n;
};

struct leaves {
    unsigned *values;    // PLACES of a leaf
    unsigned *n_waiting; // insertions for a leaf; those beyond PLACES are not in the list
    unsigned *waiting;   // their operations, PLACES of a leaf
    unsigned *touched;   // leaves with insertions
    unsigned *n_touched;
};

template <bool IS_EXTENDED> __device__ __forceinline__ void find(const index_tree &t, const leaves &l, const batch &b) {
    unsigned lane = threadIdx.x % PLACES, n_threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < b.n; first += n_threads) {
        unsigned n = min(b.n - first, (unsigned)PLACES), mine = lane < n ? b.keys[first + lane] : 0, leaf = 0, at = 0;
        bool is_found = false;
#pragma unroll 1
        for (unsigned i = 0; i < n; i++) {
            unsigned key = __shfl_sync(INDEX_ALL_LANES, mine, i);
            index_place place = index_find<IS_EXTENDED, IS_EXTENDED>(t, key, lane);
            if (lane == i) {
                leaf = place.leaf;
                at = place.next - place.leaf * INDEX_CHILDREN;
                is_found = place.is_found;
            }
        }
        if (lane < n && is_found) {
            atomicAdd(&l.values[leaf * PLACES + at], b.numbers[first + lane]);
            b.outcome[first + lane] = UPDATED;
        } else if (lane < n) {
            unsigned place = atomicAdd(&l.n_waiting[leaf], 1u);
            if (place < PLACES)
                l.waiting[leaf * PLACES + place] = first + lane;
            if (place == 0)
                l.touched[atomicAdd(l.n_touched, 1u)] = leaf;
        }
    }
}

extern "C" __global__ void insert_find_plain(index_tree t, leaves l, batch b) { find<false>(t, l, b); }
extern "C" __global__ void insert_find_extended(index_tree t, leaves l, batch b) { find<true>(t, l, b); }

// The keys of a leaf: the last level of groups, or the root alone.
__device__ __forceinline__ unsigned *keys_of(const index_tree &t, unsigned leaf) {
    const char *node = t.n_levels == 0
                           ? t.root
                           : t.groups[t.n_levels - 1] + (size_t)(leaf / INDEX_CHILDREN) * INDEX_GROUP_BYTES +
                                 (leaf % INDEX_CHILDREN + 1) * INDEX_NODE_BYTES;
    return (unsigned *)node;
}

extern "C" __global__ void insert_merge(index_tree t, leaves l, batch b) {
    const unsigned no_key = 0xffffffffu;
    unsigned lane = threadIdx.x % PLACES, n_warps = gridDim.x * blockDim.x / PLACES, n_touched = *l.n_touched;
#pragma unroll 1
    for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / PLACES; i < n_touched; i += n_warps) {
        unsigned leaf = l.touched[i], n_new = l.n_waiting[leaf];
        unsigned *keys = keys_of(t, leaf), *values = l.values + leaf * PLACES;
        unsigned key = keys[lane], value = values[lane];
        unsigned n_old = __popc(__ballot_sync(INDEX_ALL_LANES, key != no_key));
        if (n_old + n_new > LEAF_KEYS)
            continue;
        unsigned operation = lane < n_new ? l.waiting[leaf * PLACES + lane] : 0;
        unsigned new_key = lane < n_new ? b.keys[operation] : no_key, place = lane, new_place = 0;
#pragma unroll 1
        for (unsigned j = 0; j < n_new; j++) {
            unsigned other = __shfl_sync(INDEX_ALL_LANES, new_key, j);
            unsigned n_before = __popc(__ballot_sync(INDEX_ALL_LANES, key < other));
            place += other < key;
            new_place += other < new_key;
            if (lane == j)
                new_place += n_before;
        }
        if (lane < n_old) {
            keys[place] = key;
            values[place] = value;
        }
        if (lane < n_new) {
            keys[new_place] = new_key;
            values[new_place] = b.numbers[operation];
            b.outcome[operation] = INSERTED;
        }
    }
}
