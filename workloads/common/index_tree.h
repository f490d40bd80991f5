// The index of index, indexjoin and insert, described in index_search.cuh, and its keys.
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
    const uint32_t *key; // NULL: keys are not stored, and the key of rank i is somewhere in the i-th stretch of numbers
};
// Returns n keys that are not stored; the n stretches together are the 32-bit numbers.
struct index_keys index_keys(uint32_t n);
uint32_t index_key_of_rank(const struct index_keys *keys, uint32_t rank);
// The next two are for keys that are not stored. Returns the key's rank without using the tree, or n if it is not a
// key.
uint32_t index_rank_of_key(const struct index_keys *keys, uint32_t key);
// Returns a key of uniformly random rank or, unless is_present, a number near it that is not a key.
uint32_t index_random_key(struct workload *w, const struct index_keys *keys, bool is_present);

// As in index_search.cuh.
struct index_device_tree {
    CUdeviceptr groups[INDEX_MOST_GROUPS], root;
    uint32_t n_levels, has_single, n_keys;
};

struct index_tree {
    struct index_keys keys;
    unsigned leaf_keys; // keys in a leaf; the rest is spare room
    unsigned n_levels;  // of nodes
    uint64_t n_leaves;  // whole groups of them, up to the one for a key after the last
    uint64_t n_groups;
    uint64_t first[INDEX_MOST_GROUPS], count[INDEX_MOST_GROUPS]; // the groups of each level of groups
    uint8_t *is_needed;                                          // per group
    struct index_device_tree device;
};
// Plans a tree and allocates its device memory. Groups after the last key are not allocated: no search reaches them.
struct index_tree index_tree_new(const struct workload *w, struct index_keys keys, unsigned leaf_keys);
// Only needed groups are built and uploaded: those on the path to a key, present or not (for keys that are not stored),
// or all.
void index_tree_need(struct index_tree *tree, uint32_t key);
void index_tree_need_all(struct index_tree *tree);
void index_tree_upload(const struct workload *w, const struct index_tree *tree);
// Returns the device address of a leaf.
CUdeviceptr index_tree_leaf(const struct index_tree *tree, uint64_t leaf);
void index_tree_free(const struct workload *w, struct index_tree *tree);
