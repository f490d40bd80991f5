// Builds the index on the host; see index_tree.h.
#include "index_tree.h"

#include <stdlib.h>
#include <string.h>

struct index_keys index_keys(uint32_t n) {
    return (struct index_keys){.n = n, .stretch = (INDEX_NO_KEY - 1) / n};
}

uint32_t index_key_of_rank(const struct index_keys *keys, uint32_t rank) {
    if (keys->key)
        return keys->key[rank];
    uint64_t mixed = (rank + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    return rank * keys->stretch + (uint32_t)(mixed >> 32) % keys->stretch;
}

uint32_t index_rank_of_key(const struct index_keys *keys, uint32_t key) {
    uint32_t rank = key / keys->stretch;
    return rank < keys->n && index_key_of_rank(keys, rank) == key ? rank : keys->n;
}

uint32_t index_random_key(struct workload *w, const struct index_keys *keys, bool is_present) {
    uint64_t high = workload_random(w), low = workload_random(w);
    uint32_t rank = (uint32_t)((high << 8 | low >> 16) * keys->n >> 32);
    uint32_t key = index_key_of_rank(keys, rank), stretch = rank * keys->stretch;
    return is_present ? key : stretch + (key - stretch + 1) % keys->stretch;
}

static uint64_t power(unsigned exponent) {
    uint64_t value = 1;
    while (exponent--)
        value *= INDEX_CHILDREN;
    return value;
}

// Returns the leaf of a rank. The last leaf of a full tree also has the position after all keys.
static uint64_t leaf_of_rank(const struct index_tree *tree, uint64_t rank) {
    uint64_t leaf = rank / tree->leaf_keys, last = power(tree->n_levels - 1) - 1;
    return leaf < last ? leaf : last;
}

// Returns the number of leaves below each root of a group.
static uint64_t leaves_below(const struct index_tree *tree, unsigned group_level) {
    return power(tree->n_levels - 1 - tree->n_levels % 2 - 2 * group_level);
}

struct index_tree index_tree_new(const struct workload *w, struct index_keys keys, unsigned leaf_keys) {
    struct index_tree tree = {.keys = keys, .leaf_keys = leaf_keys, .n_levels = 1, .n_leaves = 1};
    while (power(tree.n_levels - 1) * leaf_keys < keys.n)
        tree.n_levels++;
    unsigned is_odd = tree.n_levels % 2, n_group_levels = tree.n_levels / 2;
    uint64_t last_leaf = leaf_of_rank(&tree, keys.n);
    tree.n_groups = is_odd;
    for (unsigned i = 0; i < n_group_levels; i++) {
        tree.first[i] = tree.n_groups;
        tree.count[i] = last_leaf / leaves_below(&tree, i) + 1;
        tree.n_groups += tree.count[i];
        tree.n_leaves = tree.count[i] * INDEX_CHILDREN;
    }
    tree.is_needed = workload_array(w, tree.n_groups, 1);
    size_t group_bytes = INDEX_GROUP_PLACES * sizeof(uint32_t);
    CUdeviceptr memory = workload_device_alloc(w, tree.n_groups * group_bytes);
    tree.device =
        (struct index_device_tree){.root = memory, .n_levels = n_group_levels, .has_single = is_odd, .n_keys = keys.n};
    for (unsigned i = 0; i < n_group_levels; i++)
        tree.device.groups[i] = memory + tree.first[i] * group_bytes;
    return tree;
}

// Marks the groups from the root to the leaf of this rank.
static void need_rank(struct index_tree *tree, uint64_t rank) {
    uint64_t leaf = leaf_of_rank(tree, rank);
    tree->is_needed[0] = 1;
    for (unsigned i = 0; i < tree->n_levels / 2; i++)
        tree->is_needed[tree->first[i] + leaf / leaves_below(tree, i)] = 1;
}

// A number that is no key may belong before or after the key of its stretch.
void index_tree_need(struct index_tree *tree, uint32_t key) {
    uint64_t rank = key / tree->keys.stretch;
    need_rank(tree, rank);
    need_rank(tree, rank + 1);
}

void index_tree_need_all(struct index_tree *tree) { memset(tree->is_needed, 1, tree->n_groups); }

// keys_below: the most keys under each child. The last of them represents the child.
static void fill_inner(const struct index_keys *keys, uint32_t *node, uint64_t first_child, uint64_t keys_below) {
    for (unsigned k = 0; k < INDEX_NODE_PLACES; k++) {
        uint64_t rank = (first_child + k + 1) * keys_below - 1;
        node[k] = k < INDEX_NODE_KEYS && rank < keys->n ? index_key_of_rank(keys, (uint32_t)rank) : INDEX_NO_KEY;
    }
}

static void fill_leaf(const struct index_tree *tree, uint32_t *node, uint64_t first) {
    for (unsigned k = 0; k < INDEX_NODE_PLACES; k++)
        node[k] = k < tree->leaf_keys && first + k < tree->keys.n
                      ? index_key_of_rank(&tree->keys, (uint32_t)(first + k))
                      : INDEX_NO_KEY;
}

static void fill(const struct index_tree *tree, uint32_t *node, unsigned level, uint64_t number) {
    if (level + 1 == tree->n_levels)
        fill_leaf(tree, node, number * tree->leaf_keys);
    else
        fill_inner(&tree->keys, node, number * INDEX_CHILDREN, power(tree->n_levels - 2 - level) * tree->leaf_keys);
}

// Groups that are built together on the host and copied to the device at once.
enum { MOST_TOGETHER = 256 };

static void upload_groups(const struct workload *w, const struct index_tree *tree, uint64_t first, unsigned count,
                          const uint32_t *places) {
    size_t bytes = INDEX_GROUP_PLACES * sizeof *places;
    WORKLOAD_CUDA(w, cuMemcpyHtoD(tree->device.root + first * bytes, places, count * bytes));
}

// Returns the number of consecutive needed groups from group g of a level on; 0 if that one is not needed.
static unsigned needed_from(const struct index_tree *tree, unsigned group_level, uint64_t g) {
    const uint8_t *is_needed = tree->is_needed + tree->first[group_level];
    unsigned count = 0;
    while (count < MOST_TOGETHER && g + count < tree->count[group_level] && is_needed[g + count])
        count++;
    return count;
}

static void fill_group(const struct index_tree *tree, uint32_t *places, unsigned level, uint64_t g) {
    fill(tree, places, level, g);
    for (unsigned c = 0; c < INDEX_CHILDREN; c++)
        fill(tree, places + (c + 1) * INDEX_NODE_PLACES, level + 1, g * INDEX_CHILDREN + c);
}

void index_tree_upload(const struct workload *w, const struct index_tree *tree) {
    uint32_t *places = workload_array(w, (size_t)MOST_TOGETHER * INDEX_GROUP_PLACES, sizeof *places);
    unsigned is_odd = tree->n_levels % 2;
    if (is_odd) {
        fill(tree, places, 0, 0);
        upload_groups(w, tree, 0, 1, places);
    }
    for (unsigned i = 0; i < tree->n_levels / 2; i++)
        for (uint64_t g = 0; g < tree->count[i];) {
            unsigned count = needed_from(tree, i, g);
            for (unsigned k = 0; k < count; k++)
                fill_group(tree, places + (size_t)k * INDEX_GROUP_PLACES, is_odd + 2 * i, g + k);
            if (count)
                upload_groups(w, tree, tree->first[i] + g, count, places);
            g += count ? count : 1;
        }
    free(places);
}

CUdeviceptr index_tree_leaf(const struct index_tree *tree, uint64_t leaf) {
    const size_t node_bytes = INDEX_NODE_PLACES * sizeof(uint32_t);
    if (tree->n_levels == 1)
        return tree->device.root;
    uint64_t group = tree->first[tree->n_levels / 2 - 1] + leaf / INDEX_CHILDREN;
    return tree->device.root + group * INDEX_GROUP_PLACES * sizeof(uint32_t) + (leaf % INDEX_CHILDREN + 1) * node_bytes;
}

void index_tree_free(const struct workload *w, struct index_tree *tree) {
    workload_device_free(w, tree->device.root);
    free(tree->is_needed);
}
