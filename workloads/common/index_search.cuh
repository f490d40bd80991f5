// The index of index, indexjoin and insert, and the search from its root to a leaf, one query per warp.
//
// The index is a tree of nodes with at most 30 keys and 31 children; a node is a line of 32 keys; unused ones are
// larger than any query. The leaves have the table's keys in order, other nodes the largest key below each child but
// the last. Nodes form groups as large as a DRAM row: a root and its 31 children, in this order. Groups are stored
// breadth first, too, so that there are no pointers: child c of node n of a level is node 31 * n + c of the next. If
// the number of levels is odd, the first group has only the root.
//
// A step compares the query with all keys of a node; the number of smaller keys is the number of the child or, in a
// leaf, the position of the query. The algorithm is that of Narasiman 2014, section 6.2.3. With HAS_TRAVERSE a step is
// one instruction (7.2.1), with HAS_HINT loads of a group's root hint to DRAM that its row will be needed again (7.2).
#pragma once
#include "heddle/device.h"

enum {
    INDEX_NODE_BYTES = 128,
    INDEX_GROUP_BYTES = 4096,
    INDEX_CHILDREN = 31,
    INDEX_MOST_GROUPS = 3,
    INDEX_ALL_LANES = -1
};

struct index_tree {
    const char *groups[INDEX_MOST_GROUPS]; // the first of each level of groups
    const char *root;
    unsigned n_levels;   // of groups, without that of a single root
    unsigned has_single; // the root is alone in its group
    unsigned n_keys;
};

struct index_place {
    unsigned leaf;  // number of the leaf
    unsigned next;  // 31 * leaf + the number of smaller keys there
    bool is_found;  // the query is the key at that position
    const char *at; // this lane's key of the leaf
};

template <bool HAS_TRAVERSE, bool HAS_HINT>
__device__ __forceinline__ index_place index_find(const index_tree &t, unsigned query, unsigned lane) {
    unsigned leaf = 0, next = 0, key = 0;
    const char *at = t.root + lane * 4;
    if (t.has_single) {
        key = *(const unsigned *)at;
        next = __popc(__ballot_sync(INDEX_ALL_LANES, query > key));
    }
#pragma unroll 1
    for (unsigned i = 0; i < INDEX_MOST_GROUPS; i++) {
        if (i == t.n_levels)
            break;
        const char *root = t.groups[i] + lane * 4 + (size_t)next * INDEX_GROUP_BYTES;
        unsigned root_key = HAS_HINT ? __heddle_load_row((const unsigned *)root) : *(const unsigned *)root;
        const char *child; // minus the root, which precedes the children
        if (HAS_TRAVERSE) {
            child = (const char *)__heddle_tree_traverse_gt((size_t)root, query, root_key, INDEX_NODE_BYTES);
            at = child + INDEX_NODE_BYTES;
            key = *(const unsigned *)at;
            leaf = __heddle_tree_traverse_gt(next * INDEX_CHILDREN, query, root_key, 1);
            next = __heddle_tree_traverse_gt(leaf * INDEX_CHILDREN, query, key, 1);
        } else {
            unsigned n_smaller = __popc(__ballot_sync(INDEX_ALL_LANES, query > root_key));
            child = root + n_smaller * INDEX_NODE_BYTES;
            at = child + INDEX_NODE_BYTES;
            key = *(const unsigned *)at;
            leaf = next * INDEX_CHILDREN + n_smaller;
            next = leaf * INDEX_CHILDREN + __popc(__ballot_sync(INDEX_ALL_LANES, query > key));
        }
    }
    return {leaf, next, (bool)__any_sync(INDEX_ALL_LANES, query == key), at};
}
