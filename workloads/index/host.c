// index: search in a 31-ary tree. The reference computes the rank of a key from the generator of the keys.
#include "../common/index_tree.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32, ABSENT_EACH = 1024 };
enum { MOST_KEYS = 1000000000, MOST_WHOLE = 30000000 }; // MOST_WHOLE: of a tree that is built whole by default

enum { OPTION_CODE, OPTION_KEYS, OPTION_QUERIES, OPTION_TREE };

static const struct workload_info info = {
    .name = "index",
    .summary = "search in a 31-ary index, one query per warp, one node per load",
    .sizes = {"893,730 keys, 1,024 queries", "858,874,530 keys, 8,192 queries", "858,874,530 keys, 131,072 queries"},
    .options =
        {
            {"--code", "WHICH", "plain (default), or Heddle's own: traverse, hint or both", 0, 0},
            {"--keys", "N", "keys of the index", 1, MOST_KEYS},
            {"--queries", "N", "keys to look up", 1, 1u << 24},
            {"--tree", "WHICH", "whole (default up to 30 million keys), or needed: the part that queries reach", 0, 0},
        },
};

// Keys of the index in no order; one in ABSENT_EACH is not a key.
static uint32_t *make_queries(struct workload *w, const struct index_keys *keys, unsigned n) {
    uint32_t *queries = workload_array(w, n, sizeof *queries);
    for (unsigned i = 0; i < n; i++)
        queries[i] = index_random_key(w, keys, i % ABSENT_EACH != ABSENT_EACH / 2);
    return queries;
}

static const char *kernel_of(const struct workload *w) {
    static const char *const kernels[] = {"index_plain", "index_traverse", "index_hint", "index_both"};
    const char *code = w->option[OPTION_CODE].text;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!code || strcmp(code, kernels[i] + strlen("index_")) == 0)
            return kernels[i];
    workload_usage_error(w, "--code is plain, traverse, hint or both, not '%s'", code);
}

static bool is_whole(const struct workload *w, unsigned n_keys) {
    const char *tree = w->option[OPTION_TREE].text;
    if (!tree)
        return n_keys <= MOST_WHOLE;
    if (strcmp(tree, "whole") != 0 && strcmp(tree, "needed") != 0)
        workload_usage_error(w, "--tree is whole or needed, not '%s'", tree);
    return strcmp(tree, "whole") == 0;
}

static void make_tree(const struct workload *w, struct index_tree *tree, const uint32_t *queries, unsigned n_queries) {
    if (is_whole(w, tree->keys.n))
        index_tree_need_all(tree);
    else
        for (unsigned i = 0; i < n_queries; i++)
            index_tree_need(tree, queries[i]);
    index_tree_upload(w, tree);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const char *kernel = kernel_of(&w);
    unsigned n_keys = w.option[OPTION_KEYS].number, n_queries = w.option[OPTION_QUERIES].number;
    n_keys = n_keys ? n_keys : workload_pick(&w, 893730, INDEX_MOST_KEYS, INDEX_MOST_KEYS);
    n_queries = n_queries ? n_queries : workload_pick(&w, 1024, 8192, 131072);
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256, blocks = w.blocks ? w.blocks : 1024 / 256;
    if (threads % WARP)
        workload_usage_error(&w, "--threads-per-block must be a multiple of %d here: a query belongs to a warp", WARP);

    struct index_tree tree = index_tree_new(&w, index_keys(n_keys), INDEX_NODE_KEYS);
    uint32_t *queries = make_queries(&w, &tree.keys, n_queries), *rows = workload_array(&w, n_queries, sizeof *rows);
    size_t bytes = n_queries * sizeof *rows;
    make_tree(&w, &tree, queries, n_queries);
    CUdeviceptr device_queries = workload_upload(&w, queries, bytes), device_rows = workload_device_alloc(&w, bytes);
    workload_launch(&w, kernel, (struct workload_grid){blocks, 1, threads, 1, 0},
                    (void *[]){&tree.device, &device_queries, &n_queries, &device_rows});
    workload_download(&w, rows, device_rows, bytes);
    unsigned n_levels = tree.n_levels;
    index_tree_free(&w, &tree);
    workload_device_free(&w, device_queries);
    workload_device_free(&w, device_rows);

    struct workload_diff diff = {0};
    if (w.check) {
        uint32_t *expected = workload_array(&w, n_queries, sizeof *expected);
        for (unsigned i = 0; i < n_queries; i++)
            expected[i] = index_rank_of_key(&tree.keys, queries[i]);
        diff = workload_diff_u32(rows, expected, n_queries);
        free(expected);
    }
    free(queries);
    free(rows);
    return workload_finish(&w, w.check ? &diff : NULL, "%u queries, %u keys, %u levels, %s, %u x %u threads", n_queries,
                           n_keys, n_levels, kernel, blocks, threads);
}
