// Index search: in which row of a table is a key? One query a warp, one node of the index a load.
//
// The index is a tree of nodes with 30 keys and 31 children; a node is a line of 32 keys, of which the last two are
// larger than any query. The leaves have the table's keys in order, other nodes the largest key below each child but
// the last. Nodes lie in groups as large as a DRAM row: a root and its 31 children, in this order. Groups lie breadth
// first, too, so that there are no pointers: below node n of a level of nodes, child c is node 31 * n + c of the next.
// Where the number of levels is odd, the first group has the root alone.
//
// A step compares the query with all keys of a node; the number of smaller ones is the number of the child. In a leaf
// it is the place of the query: in a table sorted by this key, its row. The algorithm is that of Narasiman 2014,
// section 6.2.3. With HAS_TRAVERSE a step is one instruction (7.2.1), with HAS_HINT loads of a group's root tell DRAM
// that its row will be needed again (7.2).
#include "heddle/device.h"

enum { NODE_KEYS = 30, NODE_BYTES = 128, GROUP_BYTES = 4096, CHILDREN = 31, MOST_GROUPS = 3, EVERYBODY = -1 };

struct tree {
    const char *groups[MOST_GROUPS]; // the first of each level of groups
    const char *root;
    unsigned n_levels;   // of groups, without that of a single root
    unsigned has_single; // the root stands alone
    unsigned n_keys;
};

template <bool HAS_TRAVERSE, bool HAS_HINT>
__device__ __forceinline__ void search(const tree &t, const unsigned *queries, unsigned n_queries, unsigned *rows) {
    unsigned lane = threadIdx.x % 32, n_warps = gridDim.x * blockDim.x / 32;
#pragma unroll 1
    for (unsigned q = (blockIdx.x * blockDim.x + threadIdx.x) / 32; q < n_queries; q += n_warps) {
        unsigned query = queries[q], node = 0, next = 0, key = 0;
        if (t.has_single) {
            key = *(const unsigned *)(t.root + lane * 4);
            next = __popc(__ballot_sync(EVERYBODY, query > key));
        }
#pragma unroll
        for (int i = 0; i < MOST_GROUPS; i++) {
            if (i == t.n_levels)
                break;
            const char *root = t.groups[i] + lane * 4 + (size_t)next * GROUP_BYTES;
            unsigned root_key = HAS_HINT ? __heddle_load_row((const unsigned *)root) : *(const unsigned *)root;
            const char *child; // less the root, which stands before the children
            if (HAS_TRAVERSE) {
                child = (const char *)__heddle_tree_traverse_gt((size_t)root, query, root_key, NODE_BYTES);
                key = *(const unsigned *)(child + NODE_BYTES);
                node = __heddle_tree_traverse_gt(next * CHILDREN, query, root_key, 1);
                next = __heddle_tree_traverse_gt(node * CHILDREN, query, key, 1);
            } else {
                unsigned n_smaller = __popc(__ballot_sync(EVERYBODY, query > root_key));
                child = root + n_smaller * NODE_BYTES;
                key = *(const unsigned *)(child + NODE_BYTES);
                node = next * CHILDREN + n_smaller;
                next = node * CHILDREN + __popc(__ballot_sync(EVERYBODY, query > key));
            }
        }
        // In the leaf: next is 31 * node + place.
        bool is_found = __any_sync(EVERYBODY, query == key);
        if (lane == 0)
            rows[q] = is_found ? next - node : t.n_keys;
    }
}

#define SEARCH(name, has_traverse, has_hint)                                                                           \
    extern "C" __global__ void name(tree t, const unsigned *queries, unsigned n_queries, unsigned *rows) {             \
        search<has_traverse, has_hint>(t, queries, n_queries, rows);                                                   \
    }
SEARCH(index_plain, false, false)
SEARCH(index_traverse, true, false)
SEARCH(index_hint, false, true)
SEARCH(index_both, true, true)
