// indexjoin: a join over an index. The reference computes the rank of a key from the generator of the keys.
#include "../common/index_tree.h"
#include "../common/join.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_CODE, OPTION_KEYS, OPTION_ROWS, OPTION_SELECTIVITY };

static const struct workload_info info = {
    .name = "indexjoin",
    .summary = "join of a table with an indexed one, one search in the index per warp",
    .sizes = {"893,730 keys, 1,024 rows", "858,874,530 keys, 8,192 rows", "858,874,530 keys, 131,072 rows"},
    .options =
        {
            {"--code", "WHICH", "plain (default) or extended (Heddle's own instructions and row hints)", 0, 0},
            {"--keys", "N", "keys of the index; only the part that rows reach is built", 1, INDEX_MOST_KEYS},
            {"--rows", "N", "rows of the table that is joined with it", 1, 1u << 24},
            {"--selectivity", "N", "one row in N finds a partner (default 2)", 1, 1u << 20},
        },
};

static bool is_extended(const struct workload *w) {
    const char *code = w->option[OPTION_CODE].text;
    if (code && strcmp(code, "plain") && strcmp(code, "extended"))
        workload_usage_error(w, "--code is plain or extended, not '%s'", code);
    return code && strcmp(code, "extended") == 0;
}

static uint32_t join(const struct index_keys *index, const uint32_t *keys, unsigned n, uint64_t *pairs) {
    uint32_t n_pairs = 0;
    for (unsigned row = 0; row < n; row++) {
        uint32_t rank = index_rank_of_key(index, keys[row]);
        if (rank < index->n)
            pairs[n_pairs++] = (uint64_t)rank << 32 | row;
    }
    join_sort(pairs, n_pairs);
    return n_pairs;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const char *kernel = is_extended(&w) ? "indexjoin_extended" : "indexjoin_plain";
    const struct workload_value *option = w.option;
    unsigned n_keys = option[OPTION_KEYS].text ? option[OPTION_KEYS].number
                                               : workload_pick(&w, 893730, INDEX_MOST_KEYS, INDEX_MOST_KEYS);
    unsigned n = option[OPTION_ROWS].text ? option[OPTION_ROWS].number : workload_pick(&w, 1024, 8192, 131072);
    unsigned selectivity = option[OPTION_SELECTIVITY].text ? option[OPTION_SELECTIVITY].number : 2;
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256, blocks = w.blocks ? w.blocks : 1024 / 256;
    if (threads % JOIN_WARP)
        workload_usage_error(&w, "--threads-per-block must be a multiple of %d here: a search belongs to a warp",
                             JOIN_WARP);
    struct index_tree tree = index_tree_new(&w, index_keys(n_keys), INDEX_NODE_KEYS);
    uint32_t *keys = workload_array(&w, n, sizeof *keys);
    for (unsigned i = 0; i < n; i++) {
        bool is_present = workload_random_below(&w, selectivity) == 0;
        keys[i] = index_random_key(&w, &tree.keys, is_present);
        index_tree_need(&tree, keys[i]);
    }
    index_tree_upload(&w, &tree);
    CUdeviceptr device_keys = workload_upload(&w, keys, n * sizeof *keys);
    struct join_output output = join_output_new(&w, n);
    workload_launch(&w, kernel, (struct workload_grid){blocks, 1, threads, 1, threads / JOIN_WARP * JOIN_BUFFER_BYTES},
                    (void *[]){&tree.device, &device_keys, &n, &output});
    uint32_t n_pairs;
    uint64_t *pairs = join_output_read(&w, &output, &n_pairs);
    index_tree_free(&w, &tree);
    workload_device_free(&w, device_keys);

    struct workload_diff diff = {0};
    if (w.check) {
        uint64_t *expected = workload_array(&w, n, sizeof *expected);
        uint32_t n_expected = join(&tree.keys, keys, n, expected);
        diff = join_diff(pairs, n_pairs, expected, n_expected);
        free(expected);
    }
    free(keys);
    free(pairs);
    return workload_finish(&w, w.check ? &diff : NULL, "%u pairs of %u rows and %u keys, %s, %u x %u threads", n_pairs,
                           n, n_keys, kernel, blocks, threads);
}
