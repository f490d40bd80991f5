// The index of index, indexjoin and insert, as index_search.cuh explains it, and the keys in it.
#pragma once

#include "workload.h"

enum {
    INDEX_NODE_KEYS = 30,
    INDEX_CHILDREN = 31,
    INDEX_NODE_PLACES = 32,
    INDEX_GROUP_PLACES = 32 * INDEX_NODE_PLACES,
    INDEX_MOST_GROUPS = 3,
};
#define INDEX_NO_KEY 0xffffffffu
#define INDEX_MOST_KEYS 858874530u // of 6 levels, which are 3 of groups

// Unique keys in order.
struct index_keys {
    uint32_t n, stretch;
    const uint32_t *key; // NULL: they are not stored, and that of rank i lies anywhere in the i-th stretch of numbers
};
// Those that are not stored; the n stretches together are the 32-bit numbers.
struct index_keys index_keys(uint32_t n);
uint32_t index_key_of_rank(const struct index_keys *keys, uint32_t rank);
// The next two are for keys that are not stored. Without the tree: the key's rank, or n when it is none of them.
uint32_t index_rank_of_key(const struct index_keys *keys, uint32_t key);
// A key of the index, the rank being uniform; or, unless is_present, a number near it that is none of them.
uint32_t index_random_key(struct workload *w, const struct index_keys *keys, bool is_present);

// As in index_search.cuh.
struct index_device_tree {
    CUdeviceptr groups[INDEX_MOST_GROUPS], root;
    uint32_t n_levels, has_single, n_keys;
};

struct index_tree {
    struct index_keys keys;
    unsigned leaf_keys; // keys in a leaf; the rest of it is room for others
    unsigned n_levels;  // of nodes
    uint64_t n_leaves;  // whole groups of them, up to that where a key behind the last one belongs
    uint64_t n_groups;
    uint64_t first[INDEX_MOST_GROUPS], count[INDEX_MOST_GROUPS]; // the groups of each level of groups
    uint8_t *is_needed;                                          // each group
    struct index_device_tree device;
};
// Plans a tree and takes its place on the device. Groups behind the last key have no place: no search comes to them.
struct index_tree index_tree_new(const struct workload *w, struct index_keys keys, unsigned leaf_keys);
// Only groups that are needed are made and uploaded: those on the way to a key, whether it is in the index or not (of
// keys that are not stored), or all.
void index_tree_need(struct index_tree *tree, uint32_t key);
void index_tree_need_all(struct index_tree *tree);
void index_tree_upload(const struct workload *w, const struct index_tree *tree);
// Where leaf number n begins on the device.
CUdeviceptr index_tree_leaf(const struct index_tree *tree, uint64_t leaf);
void index_tree_free(const struct workload *w, struct index_tree *tree);
