// insert: updates and insertions in an index. The reference collects each leaf's keys and sorts them.
#include "../common/index_tree.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32 };
enum outcome { MISSED, UPDATED, INSERTED }; // as in kernel.cu

enum { OPTION_CODE, OPTION_KEYS, OPTION_OPERATIONS, OPTION_LEAF_KEYS };
enum { MOST_LEAVES = 923521, MOST_KEYS = 27705630 }; // 5 levels

static const struct workload_info info = {
    .name = "insert",
    .summary = "updates and insertions in a 31-ary index with room in its leaves, one operation per warp",
    .sizes = {"595,820 keys, 1,024 operations", "18,470,420 keys, 8,192 operations",
              "18,470,420 keys, 131,072 operations"},
    .options =
        {
            {"--code", "WHICH", "plain (default) or extended (Heddle's own instructions and row hints)", 0, 0},
            {"--keys", "N", "initial keys of the index", 2, MOST_KEYS},
            {"--operations", "N", "half of them updates, half insertions; at most as many as there are keys", 1,
             MOST_KEYS},
            {"--leaf-keys", "N", "initial keys in a leaf, at most 30 (default 20)", 1, INDEX_NODE_KEYS},
        },
};

// As in kernel.cu.
struct device_batch {
    CUdeviceptr keys, numbers, outcome;
    uint32_t n;
};
struct device_leaves {
    CUdeviceptr values, n_waiting, waiting, touched, n_touched;
};

struct batch {
    unsigned n;
    uint32_t *keys, *numbers, *outcome;
};

static uint32_t value_of_rank(uint64_t rank) { return (uint32_t)rank * 2654435761u; }

// Every other operation inserts a missing key, each key once.
static struct batch make_batch(struct workload *w, const struct index_keys *keys, unsigned n) {
    struct batch batch = {n, workload_array(w, n, 4), workload_array(w, n, 4), workload_array(w, n, 4)};
    uint8_t *is_taken = workload_array(w, keys->n, 1);
    for (unsigned i = 0; i < n; i++) {
        bool is_update = i % 2 == 0;
        do
            batch.keys[i] = index_random_key(w, keys, is_update);
        while (!is_update && is_taken[batch.keys[i] / keys->stretch]++);
        batch.numbers[i] = workload_random(w);
    }
    free(is_taken);
    return batch;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

struct entry {
    uint32_t key, value;
};

static int compare_entries(const void *left, const void *right) {
    uint32_t a = ((const struct entry *)left)->key, b = ((const struct entry *)right)->key;
    return (a > b) - (a < b);
}

static uint64_t leaf_of(const struct index_tree *tree, uint32_t key) {
    uint32_t near = key / tree->keys.stretch;
    uint64_t rank = near < tree->keys.n && index_key_of_rank(&tree->keys, near) < key ? near + UINT64_C(1) : near;
    uint64_t leaf = rank / tree->leaf_keys, last = tree->n_leaves - 1;
    return leaf < last ? leaf : last;
}

struct pending {
    uint64_t leaf;
    unsigned operation;
};

static int compare_pending(const void *left, const void *right) {
    uint64_t a = ((const struct pending *)left)->leaf, b = ((const struct pending *)right)->leaf;
    return (a > b) - (a < b);
}

// Applies the insertions to a leaf's keys and values, all of them or none.
static void change_leaf(const struct batch *batch, const struct pending *pending, unsigned n_new, uint32_t *keys,
                        uint32_t *values, uint32_t *outcome) {
    struct entry entry[INDEX_NODE_KEYS];
    unsigned n = 0;
    while (keys[n] != INDEX_NO_KEY)
        n++;
    if (n + n_new > INDEX_NODE_KEYS)
        return;
    for (unsigned i = 0; i < n; i++)
        entry[i] = (struct entry){keys[i], values[i]};
    for (unsigned i = 0; i < n_new; i++) {
        unsigned operation = pending[i].operation;
        entry[n++] = (struct entry){batch->keys[operation], batch->numbers[operation]};
        outcome[operation] = INSERTED;
    }
    qsort(entry, n, sizeof *entry, compare_entries);
    for (unsigned i = 0; i < n; i++) {
        keys[i] = entry[i].key;
        values[i] = entry[i].value;
    }
}

// `keys` has the leaves one after the other.
static void change(const struct workload *w, const struct index_tree *tree, const struct batch *batch, uint32_t *keys,
                   uint32_t *values, uint32_t *outcome) {
    struct pending *pending = workload_array(w, batch->n, sizeof *pending);
    unsigned n = 0;
    for (unsigned i = 0; i < batch->n; i++) {
        uint64_t rank = index_rank_of_key(&tree->keys, batch->keys[i]);
        if (rank < tree->keys.n) {
            values[rank / tree->leaf_keys * INDEX_NODE_PLACES + rank % tree->leaf_keys] += batch->numbers[i];
            outcome[i] = UPDATED;
        } else {
            pending[n++] = (struct pending){leaf_of(tree, batch->keys[i]), i};
        }
    }
    qsort(pending, n, sizeof *pending, compare_pending);
    for (unsigned begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && pending[end].leaf == pending[begin].leaf; end++)
            ;
        uint64_t at = pending[begin].leaf * INDEX_NODE_PLACES;
        change_leaf(batch, pending + begin, end - begin, keys + at, values + at, outcome);
    }
    free(pending);
}

// ---- Device -------------------------------------------------------------------------------------------------------

static void fill_leaves(const struct index_tree *tree, uint32_t *keys, uint32_t *values) {
    for (uint64_t leaf = 0; leaf < tree->n_leaves; leaf++)
        for (unsigned k = 0; k < INDEX_NODE_PLACES; k++) {
            uint64_t rank = leaf * tree->leaf_keys + k, at = leaf * INDEX_NODE_PLACES + k;
            bool is_used = k < tree->leaf_keys && rank < tree->keys.n;
            keys[at] = is_used ? index_key_of_rank(&tree->keys, (uint32_t)rank) : INDEX_NO_KEY;
            values[at] = is_used ? value_of_rank(rank) : 0;
        }
}

static CUdeviceptr zeroes(const struct workload *w, size_t n) {
    CUdeviceptr memory = workload_device_alloc(w, n * sizeof(uint32_t));
    WORKLOAD_CUDA(w, cuMemsetD32(memory, 0, n));
    return memory;
}

static void launch(struct workload *w, struct index_tree *tree, const struct batch *batch, const char *kernel,
                   struct workload_grid grid, uint32_t *keys, uint32_t *values) {
    uint64_t n_leaves = tree->n_leaves;
    size_t leaf_bytes = INDEX_NODE_PLACES * sizeof *keys, batch_bytes = batch->n * sizeof *batch->keys;
    struct device_batch b = {workload_upload(w, batch->keys, batch_bytes),
                             workload_upload(w, batch->numbers, batch_bytes), zeroes(w, batch->n), batch->n};
    struct device_leaves l = {workload_upload(w, values, n_leaves * leaf_bytes), zeroes(w, n_leaves),
                              workload_device_alloc(w, n_leaves * leaf_bytes), zeroes(w, batch->n), zeroes(w, 1)};
    workload_launch(w, kernel, grid, (void *[]){&tree->device, &l, &b});
    workload_launch(w, "insert_merge", grid, (void *[]){&tree->device, &l, &b});
    workload_download(w, batch->outcome, b.outcome, batch_bytes);
    workload_download(w, values, l.values, n_leaves * leaf_bytes);
    uint64_t together = n_leaves < INDEX_CHILDREN ? n_leaves : INDEX_CHILDREN; // in a group
    for (uint64_t leaf = 0; leaf < n_leaves; leaf += together)
        workload_download(w, keys + leaf * INDEX_NODE_PLACES, index_tree_leaf(tree, leaf), together * leaf_bytes);
    const CUdeviceptr memory[] = {b.keys,      b.numbers, b.outcome, l.values,
                                  l.n_waiting, l.waiting, l.touched, l.n_touched};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        workload_device_free(w, memory[i]);
}

static bool is_extended(const struct workload *w) {
    const char *code = w->option[OPTION_CODE].text;
    if (code && strcmp(code, "plain") && strcmp(code, "extended"))
        workload_usage_error(w, "--code is plain or extended, not '%s'", code);
    return code && strcmp(code, "extended") == 0;
}

static struct workload_diff compare(const struct workload *w, const struct index_tree *tree, const struct batch *batch,
                                    const uint32_t *keys, const uint32_t *values) {
    size_t n = tree->n_leaves * INDEX_NODE_PLACES;
    uint32_t *right_keys = workload_array(w, n, 4), *right_values = workload_array(w, n, 4);
    uint32_t *right_outcome = workload_array(w, batch->n, 4);
    fill_leaves(tree, right_keys, right_values);
    change(w, tree, batch, right_keys, right_values, right_outcome);
    struct workload_diff diff = workload_diff_u32(keys, right_keys, n);
    if (diff.n_wrong == 0)
        diff = workload_diff_u32(values, right_values, n);
    if (diff.n_wrong == 0)
        diff = workload_diff_u32(batch->outcome, right_outcome, batch->n);
    free(right_keys);
    free(right_values);
    free(right_outcome);
    return diff;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const char *kernel = is_extended(&w) ? "insert_find_extended" : "insert_find_plain";
    const struct workload_value *option = w.option;
    unsigned n_keys =
        option[OPTION_KEYS].text ? option[OPTION_KEYS].number : workload_pick(&w, 595820, 18470420, 18470420);
    unsigned n =
        option[OPTION_OPERATIONS].text ? option[OPTION_OPERATIONS].number : workload_pick(&w, 1024, 8192, 131072);
    unsigned leaf_keys = option[OPTION_LEAF_KEYS].text ? option[OPTION_LEAF_KEYS].number : 20;
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256, blocks = w.blocks ? w.blocks : 1024 / 256;
    if ((n_keys + leaf_keys - 1) / leaf_keys > MOST_LEAVES)
        workload_usage_error(&w, "%u keys, %u in a leaf, need more than %d leaves", n_keys, leaf_keys, MOST_LEAVES);
    if (n > n_keys)
        workload_usage_error(&w, "--operations is at most --keys, %u, here", n_keys);
    if (threads % WARP)
        workload_usage_error(&w, "--threads-per-block must be a multiple of %d here: an operation belongs to a warp",
                             WARP);
    struct index_tree tree = index_tree_new(&w, index_keys(n_keys), leaf_keys);
    struct batch batch = make_batch(&w, &tree.keys, n);
    size_t n_places = tree.n_leaves * INDEX_NODE_PLACES;
    uint32_t *keys = workload_array(&w, n_places, 4), *values = workload_array(&w, n_places, 4);
    fill_leaves(&tree, keys, values);
    index_tree_need_all(&tree);
    index_tree_upload(&w, &tree);
    launch(&w, &tree, &batch, kernel, (struct workload_grid){blocks, 1, threads, 1, 0}, keys, values);

    struct workload_diff diff = {0};
    if (w.check)
        diff = compare(&w, &tree, &batch, keys, values);
    unsigned n_of[3] = {0};
    for (unsigned i = 0; i < n; i++)
        n_of[batch.outcome[i] % 3]++;
    index_tree_free(&w, &tree);
    free(keys);
    free(values);
    free(batch.keys);
    free(batch.numbers);
    free(batch.outcome);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%u updates, %u insertions and %u without room, %u keys, %s, %u x %u threads", n_of[UPDATED],
                           n_of[INSERTED], n_of[MISSED], n_keys, kernel, blocks, threads);
}
