// hashjoin: a join by hashing. The reference sorts both tables by key and merges them.
#include "../common/join.h"

#include <stdlib.h>
#include <string.h>

#define NO_KEY 0xffffffffu

enum { OPTION_CODE, OPTION_BUILD, OPTION_PROBE, OPTION_SELECTIVITY };

static const struct workload_info info = {
    .name = "hashjoin",
    .summary = "join of two tables: one fills a hash table, the other probes it, one row per thread",
    .sizes = {"4,096 and 16,384 rows", "131,072 and 524,288 rows", "1,048,576 and 4,194,304 rows"},
    .options =
        {
            {"--code", "WHICH", "ballot (today's GPUs, the default) or cond_acc (Heddle's own instruction)", 0, 0},
            {"--build", "N", "rows of the table that is hashed", 1, 1u << 26},
            {"--probe", "N", "rows of the table that is looked up", 1, 1u << 26},
            {"--selectivity", "N", "one probing row in N finds a partner (default 2)", 1, 1u << 20},
        },
};

// As in kernel.cu.
struct hash_table {
    CUdeviceptr keys, rows;
    uint32_t shift;
};

// A permutation of the numbers below 2^31: a product with an odd number modulo a power of two. Keys of r are the images
// of the first numbers; probing rows without a partner have images of others. No key is NO_KEY.
static uint32_t image(uint32_t number) { return number * 2246822519u & 0x7fffffffu; }

static uint32_t *make_keys(const struct workload *w, unsigned n) {
    uint32_t *keys = workload_array(w, n, sizeof *keys);
    for (unsigned i = 0; i < n; i++)
        keys[i] = image(i);
    return keys;
}

static uint32_t *make_probes(struct workload *w, unsigned n, unsigned n_build, unsigned selectivity) {
    uint32_t *keys = workload_array(w, n, sizeof *keys);
    for (unsigned i = 0; i < n; i++) {
        uint64_t high = workload_random(w), low = workload_random(w);
        uint32_t number = (uint32_t)((high << 8 | low >> 16) * n_build >> 32);
        keys[i] = image(workload_random_below(w, selectivity) == 0 ? number : n_build + number);
    }
    return keys;
}

struct table_row {
    uint32_t key, row;
};

static int compare_rows(const void *left, const void *right) {
    uint32_t a = ((const struct table_row *)left)->key, b = ((const struct table_row *)right)->key;
    return (a > b) - (a < b);
}

static struct table_row *sorted(const struct workload *w, const uint32_t *keys, unsigned n) {
    struct table_row *rows = workload_array(w, n, sizeof *rows);
    for (unsigned i = 0; i < n; i++)
        rows[i] = (struct table_row){keys[i], i};
    qsort(rows, n, sizeof *rows, compare_rows);
    return rows;
}

static uint32_t merge(const struct workload *w, const uint32_t *r_keys, unsigned n_r, const uint32_t *s_keys,
                      unsigned n_s, uint64_t *pairs) {
    struct table_row *r = sorted(w, r_keys, n_r), *s = sorted(w, s_keys, n_s);
    uint32_t n = 0;
    for (unsigned i = 0, j = 0; j < n_s; j++) {
        while (i < n_r && r[i].key < s[j].key)
            i++;
        if (i < n_r && r[i].key == s[j].key)
            pairs[n++] = (uint64_t)r[i].row << 32 | s[j].row;
    }
    free(r);
    free(s);
    join_sort(pairs, n);
    return n;
}

// At most half full.
static struct hash_table new_table(const struct workload *w, unsigned n) {
    struct hash_table table = {.shift = 31};
    while (UINT64_C(1) << (32 - table.shift) < 2 * (uint64_t)n)
        table.shift--;
    size_t bytes = (size_t)4 << (32 - table.shift);
    table.keys = workload_device_alloc(w, bytes);
    table.rows = workload_device_alloc(w, bytes);
    WORKLOAD_CUDA(w, cuMemsetD32(table.keys, NO_KEY, bytes / 4));
    return table;
}

static bool has_cond_acc(const struct workload *w) {
    const char *code = w->option[OPTION_CODE].text;
    if (code && strcmp(code, "ballot") && strcmp(code, "cond_acc"))
        workload_usage_error(w, "--code is ballot or cond_acc, not '%s'", code);
    return code && strcmp(code, "cond_acc") == 0;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const char *kernel = has_cond_acc(&w) ? "hash_probe_cond_acc" : "hash_probe";
    const struct workload_value *option = w.option;
    unsigned n_r = option[OPTION_BUILD].text ? option[OPTION_BUILD].number : workload_pick(&w, 4096, 1 << 17, 1 << 20);
    unsigned n_s =
        option[OPTION_PROBE].text ? option[OPTION_PROBE].number : workload_pick(&w, 1 << 14, 1 << 19, 1 << 22);
    unsigned selectivity = option[OPTION_SELECTIVITY].text ? option[OPTION_SELECTIVITY].number : 2;
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256, blocks = w.blocks ? w.blocks : 1024 / 256;
    if (threads % JOIN_WARP)
        workload_usage_error(&w, "--threads-per-block must be a multiple of %d here: a buffer belongs to a warp",
                             JOIN_WARP);
    uint32_t *r = make_keys(&w, n_r), *s = make_probes(&w, n_s, n_r, selectivity);
    CUdeviceptr device_r = workload_upload(&w, r, n_r * sizeof *r), device_s = workload_upload(&w, s, n_s * sizeof *s);
    struct hash_table table = new_table(&w, n_r);
    struct join_output output = join_output_new(&w, n_s);
    workload_launch(&w, "hash_build", (struct workload_grid){blocks, 1, threads, 1, 0},
                    (void *[]){&table, &device_r, &n_r});
    workload_launch(&w, kernel, (struct workload_grid){blocks, 1, threads, 1, threads / JOIN_WARP * JOIN_BUFFER_BYTES},
                    (void *[]){&table, &device_s, &n_s, &output});
    uint32_t n_pairs;
    uint64_t *pairs = join_output_read(&w, &output, &n_pairs);
    workload_device_free(&w, device_r);
    workload_device_free(&w, device_s);
    workload_device_free(&w, table.keys);
    workload_device_free(&w, table.rows);

    struct workload_diff diff = {0};
    if (w.check) {
        uint64_t *expected = workload_array(&w, n_s, sizeof *expected);
        uint32_t n_expected = merge(&w, r, n_r, s, n_s, expected);
        diff = join_diff(pairs, n_pairs, expected, n_expected);
        free(expected);
    }
    free(r);
    free(s);
    free(pairs);
    return workload_finish(&w, w.check ? &diff : NULL, "%u pairs of %u and %u rows, %s, %u x %u threads", n_pairs, n_r,
                           n_s, kernel, blocks, threads);
}
