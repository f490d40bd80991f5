// index: search in a 31-ary tree; the reference sorts the queries and goes through them and the keys side by side.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

// As in kernel.cu.
enum { NODE_KEYS = 30, CHILDREN = 31, NODE_PLACES = 32, GROUP_PLACES = 32 * NODE_PLACES, MOST_GROUPS = 3 };

struct device_tree {
    CUdeviceptr groups[MOST_GROUPS], root;
    uint32_t n_levels, has_single, n_keys;
};

enum { WARP = 32, ABSENT_EACH = 1024 };
#define NO_KEY 0xffffffffu

enum { OPTION_CODE, OPTION_KEYS, OPTION_QUERIES };

static const struct workload_info info = {
    .name = "index",
    .summary = "search in a 31-ary index, one query a warp, one node a load",
    .sizes = {"893,730 keys, 512 queries", "27,705,630 keys, 8,192 queries", "27,705,630 keys, 131,072 queries"},
    .options =
        {
            {"--code", "WHICH", "plain (default), or Heddle's own: traverse, hint or both", 0, 0},
            {"--keys", "N", "keys of the index; 858874530 is the paper's billion and takes 8 GB", 1, 858874530},
            {"--queries", "N", "keys to look up", 1, 1u << 24},
        },
};

// The keys are not stored: the one of rank i lies anywhere in the i-th of n equal stretches of the 32-bit numbers.
struct keys {
    uint32_t n, stretch;
};

static uint32_t key_of_rank(const struct keys *keys, uint32_t rank) {
    uint64_t mixed = (rank + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    return rank * keys->stretch + (uint32_t)((mixed >> 32) % keys->stretch);
}

struct tree {
    unsigned n_levels; // of nodes
    size_t n_groups;
    size_t first[MOST_GROUPS]; // group of each level of groups
    uint32_t *place;
};

static uint64_t power(unsigned exponent) {
    uint64_t value = 1;
    while (exponent--)
        value *= CHILDREN;
    return value;
}

// keys_below: the most keys under each child, or 1 in a leaf. The last of them stands for the child.
static void fill_node(const struct keys *keys, uint32_t *node, uint64_t first_child, uint64_t keys_below) {
    for (unsigned k = 0; k < NODE_PLACES; k++) {
        uint64_t rank = (first_child + k + 1) * keys_below - 1;
        node[k] = k < NODE_KEYS && rank < keys->n ? key_of_rank(keys, (uint32_t)rank) : NO_KEY;
    }
}

static void fill_inner_or_leaf(const struct keys *keys, const struct tree *tree, uint32_t *node, unsigned level,
                               uint64_t number) {
    bool is_leaf = level + 1 == tree->n_levels;
    if (is_leaf)
        fill_node(keys, node, number * NODE_KEYS, 1);
    else
        fill_node(keys, node, number * CHILDREN, power(tree->n_levels - 2 - level) * NODE_KEYS);
}

static struct tree build(const struct workload *w, const struct keys *keys) {
    struct tree tree = {.n_levels = 1};
    while (power(tree.n_levels - 1) * NODE_KEYS < keys->n)
        tree.n_levels++;
    unsigned is_odd = tree.n_levels % 2;
    tree.n_groups = is_odd;
    for (unsigned i = 0; i < tree.n_levels / 2; i++) {
        tree.first[i] = tree.n_groups;
        tree.n_groups += power(is_odd + 2 * i);
    }
    tree.place = workload_array(w, tree.n_groups * GROUP_PLACES, sizeof *tree.place);
    if (is_odd)
        fill_inner_or_leaf(keys, &tree, tree.place, 0, 0);
    for (unsigned level = is_odd; level < tree.n_levels; level += 2)
        for (uint64_t g = 0; g < power(level); g++) {
            uint32_t *group = tree.place + (tree.first[level / 2] + g) * GROUP_PLACES;
            fill_inner_or_leaf(keys, &tree, group, level, g);
            for (unsigned c = 0; c < CHILDREN; c++)
                fill_inner_or_leaf(keys, &tree, group + (c + 1) * NODE_PLACES, level + 1, g * CHILDREN + c);
        }
    return tree;
}

// Keys of the index in no order; one in ABSENT_EACH is none, as near to one as it can be.
static uint32_t *make_queries(struct workload *w, const struct keys *keys, unsigned n) {
    uint32_t *queries = workload_array(w, n, sizeof *queries);
    for (unsigned i = 0; i < n; i++) {
        uint64_t high = workload_random(w), low = workload_random(w);
        uint32_t rank = (uint32_t)((high << 24 | low) % keys->n);
        queries[i] = key_of_rank(keys, rank);
        uint32_t stretch = rank * keys->stretch;
        if (i % ABSENT_EACH == ABSENT_EACH / 2)
            queries[i] = stretch + (queries[i] - stretch + 1) % keys->stretch;
    }
    return queries;
}

struct lookup {
    uint32_t query, place;
};

static int compare_lookups(const void *left, const void *right) {
    uint32_t a = ((const struct lookup *)left)->query, b = ((const struct lookup *)right)->query;
    return (a > b) - (a < b);
}

static void merge(const struct workload *w, const struct keys *keys, const uint32_t *queries, unsigned n,
                  uint32_t *rows) {
    struct lookup *sorted = workload_array(w, n, sizeof *sorted);
    for (unsigned i = 0; i < n; i++)
        sorted[i] = (struct lookup){queries[i], i};
    qsort(sorted, n, sizeof *sorted, compare_lookups);
    uint32_t rank = 0;
    for (unsigned i = 0; i < n; i++) {
        while (rank < keys->n && key_of_rank(keys, rank) < sorted[i].query)
            rank++;
        bool is_found = rank < keys->n && key_of_rank(keys, rank) == sorted[i].query;
        rows[sorted[i].place] = is_found ? rank : keys->n;
    }
    free(sorted);
}

static const char *kernel_of(const struct workload *w) {
    static const char *const kernels[] = {"index_plain", "index_traverse", "index_hint", "index_both"};
    const char *code = w->option[OPTION_CODE].text;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!code || strcmp(code, kernels[i] + strlen("index_")) == 0)
            return kernels[i];
    workload_usage_error(w, "--code is plain, traverse, hint or both, not '%s'", code);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const char *kernel = kernel_of(&w);
    unsigned n_keys = w.option[OPTION_KEYS].number, n_queries = w.option[OPTION_QUERIES].number;
    n_keys = n_keys ? n_keys : workload_pick(&w, 893730, 27705630, 27705630);
    n_queries = n_queries ? n_queries : workload_pick(&w, 512, 8192, 131072);
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256, blocks = w.blocks ? w.blocks : 1024 / 256;
    if (threads % WARP)
        workload_usage_error(&w, "--threads-per-block must be a multiple of %d here: a query belongs to a warp", WARP);

    struct keys keys = {n_keys, (NO_KEY - 1) / n_keys};
    struct tree tree = build(&w, &keys);
    uint32_t *queries = make_queries(&w, &keys, n_queries), *rows = workload_array(&w, n_queries, sizeof *rows);
    size_t bytes = n_queries * sizeof *rows;
    CUdeviceptr device = workload_upload(&w, tree.place, tree.n_groups * GROUP_PLACES * sizeof *tree.place);
    struct device_tree device_tree = {
        .root = device, .n_levels = tree.n_levels / 2, .has_single = tree.n_levels % 2, .n_keys = n_keys};
    for (unsigned i = 0; i < device_tree.n_levels; i++)
        device_tree.groups[i] = device + tree.first[i] * GROUP_PLACES * sizeof *tree.place;
    CUdeviceptr device_queries = workload_upload(&w, queries, bytes), device_rows = workload_device_alloc(&w, bytes);
    workload_launch(&w, kernel, (struct workload_grid){blocks, 1, threads, 1, 0},
                    (void *[]){&device_tree, &device_queries, &n_queries, &device_rows});
    workload_download(&w, rows, device_rows, bytes);
    workload_device_free(&w, device);
    workload_device_free(&w, device_queries);
    workload_device_free(&w, device_rows);

    struct workload_diff diff = {0};
    if (w.check) {
        uint32_t *expected = workload_array(&w, n_queries, sizeof *expected);
        merge(&w, &keys, queries, n_queries, expected);
        diff = workload_diff_u32(rows, expected, n_queries);
        free(expected);
    }
    free(tree.place);
    free(queries);
    free(rows);
    return workload_finish(&w, w.check ? &diff : NULL, "%u queries, %u keys, %u levels, %s, %u x %u threads", n_queries,
                           n_keys, tree.n_levels, kernel, blocks, threads);
}
