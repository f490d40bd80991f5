// aggregate: COUNT, SUM, MIN, MAX and AVG, with or without groups. The reference sorts the rows by group and value and
// computes each group's aggregates from that.
#include "../common/workload.h"

#include <stdlib.h>

enum {
    THREADS = 256,
    MOST_GROUPS = 1024,
    GROUP_BYTES = 20
}; // GROUP_BYTES: of a group in shared memory, as in kernel.cu

enum { OPTION_GROUPS, OPTION_SELECTIVITY };

static const struct workload_info info = {
    .name = "aggregate",
    .summary = "COUNT, SUM, MIN, MAX and AVG of a column by groups, kept per block in shared memory",
    .sizes = {"32,768 rows", "1,048,576 rows", "4,194,304 rows"},
    .threads_fixed = "the tree in shared memory is laid out for 256 threads",
    .options =
        {
            {"--groups", "N", "values of the column that rows are grouped by (default 64); 0: no groups", 0,
             MOST_GROUPS},
            {"--selectivity", "N", "one row in N meets the condition (default 2)", 1, 1u << 20},
        },
};

// As in kernel.cu.
struct device_table {
    CUdeviceptr values, groups, conditions;
    uint32_t limit, n_rows;
};
struct device_aggregates {
    CUdeviceptr sum, count, least, most;
};

struct row {
    uint32_t group;
    int32_t value;
};

struct aggregates {
    uint64_t *sum;
    uint32_t *count;
    int32_t *least, *most;
    double *average;
};

static struct aggregates new_aggregates(const struct workload *w, unsigned n) {
    struct aggregates a = {workload_array(w, n, sizeof *a.sum), workload_array(w, n, sizeof *a.count),
                           workload_array(w, n, sizeof *a.least), workload_array(w, n, sizeof *a.most),
                           workload_array(w, n, sizeof *a.average)};
    for (unsigned g = 0; g < n; g++) {
        a.least[g] = INT32_MAX;
        a.most[g] = INT32_MIN;
    }
    return a;
}

static void free_aggregates(struct aggregates *a) {
    free(a->sum);
    free(a->count);
    free(a->least);
    free(a->most);
    free(a->average);
}

static int compare_rows(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    return a->group != b->group ? (a->group > b->group) - (a->group < b->group)
                                : (a->value > b->value) - (a->value < b->value);
}

// `rows` holds the n rows that meet the condition.
static void sort_and_read(struct row *rows, unsigned n, struct aggregates *a) {
    qsort(rows, n, sizeof *rows, compare_rows);
    for (unsigned begin = 0, end; begin < n; begin = end) {
        uint32_t g = rows[begin].group;
        int64_t sum = 0;
        for (end = begin; end < n && rows[end].group == g; end++)
            sum += rows[end].value;
        a->sum[g] = (uint64_t)sum;
        a->count[g] = end - begin;
        a->least[g] = rows[begin].value;
        a->most[g] = rows[end - 1].value;
        a->average[g] = (double)sum / (end - begin);
    }
}

// Compares the bits of all columns: doubles must be equal, too.
static struct workload_diff compare(const struct aggregates *got, const struct aggregates *expected, unsigned n) {
    const struct {
        const void *got, *expected;
        size_t words;
    } column[] = {{got->count, expected->count, 1},
                  {got->sum, expected->sum, 2},
                  {got->least, expected->least, 1},
                  {got->most, expected->most, 1},
                  {got->average, expected->average, 2}};
    struct workload_diff diff = {0};
    for (size_t i = 0; i < sizeof column / sizeof *column && diff.n_wrong == 0; i++)
        diff = workload_diff_u32(column[i].got, column[i].expected, n * column[i].words);
    return diff;
}

static void launch(struct workload *w, const struct device_table *table, const struct aggregates *a,
                   unsigned n_requested, unsigned blocks) {
    unsigned n = n_requested ? n_requested : 1;
    struct device_aggregates device = {
        workload_upload(w, a->sum, n * sizeof *a->sum), workload_upload(w, a->count, n * sizeof *a->count),
        workload_upload(w, a->least, n * sizeof *a->least), workload_upload(w, a->most, n * sizeof *a->most)};
    CUdeviceptr average = workload_device_alloc(w, n * sizeof *a->average);
    struct device_table in = *table;
    struct workload_grid grid = {blocks, 1, THREADS, 1, n_requested * GROUP_BYTES};
    if (n_requested)
        workload_launch(w, "aggregate_groups", grid, (void *[]){&in, &device, &n});
    else
        workload_launch(w, "aggregate_all", grid, (void *[]){&in, &device});
    workload_launch(w, "aggregate_average", (struct workload_grid){1, 1, THREADS, 1, 0},
                    (void *[]){&device, &average, &n});
    workload_download(w, a->sum, device.sum, n * sizeof *a->sum);
    workload_download(w, a->count, device.count, n * sizeof *a->count);
    workload_download(w, a->least, device.least, n * sizeof *a->least);
    workload_download(w, a->most, device.most, n * sizeof *a->most);
    workload_download(w, a->average, average, n * sizeof *a->average);
    workload_device_free(w, device.sum);
    workload_device_free(w, device.count);
    workload_device_free(w, device.least);
    workload_device_free(w, device.most);
    workload_device_free(w, average);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned n = workload_pick(&w, 1 << 15, 1 << 20, 1 << 22), blocks = w.blocks ? w.blocks : 1024 / THREADS;
    unsigned n_requested = w.option[OPTION_GROUPS].text ? w.option[OPTION_GROUPS].number : 64;
    unsigned selectivity = w.option[OPTION_SELECTIVITY].text ? w.option[OPTION_SELECTIVITY].number : 2;
    unsigned n_groups = n_requested ? n_requested : 1;
    uint32_t *groups = workload_array(&w, n, sizeof *groups), *conditions = workload_array(&w, n, sizeof *conditions);
    int32_t *values = workload_array(&w, n, sizeof *values);
    struct row *passing = workload_array(&w, n, sizeof *passing);
    unsigned n_passing = 0;
    for (unsigned i = 0; i < n; i++) {
        values[i] = (int32_t)(workload_random(&w) << 8 ^ workload_random(&w));
        groups[i] = workload_random_below(&w, n_groups);
        conditions[i] = workload_random_below(&w, selectivity);
        if (conditions[i] == 0)
            passing[n_passing++] = (struct row){groups[i], values[i]};
    }
    size_t bytes = n * sizeof *values;
    struct device_table table = {workload_upload(&w, values, bytes), workload_upload(&w, groups, bytes),
                                 workload_upload(&w, conditions, bytes), 1, n};
    struct aggregates result = new_aggregates(&w, n_groups), expected = new_aggregates(&w, n_groups);
    launch(&w, &table, &result, n_requested, blocks);
    workload_device_free(&w, table.values);
    workload_device_free(&w, table.groups);
    workload_device_free(&w, table.conditions);

    struct workload_diff diff = {0};
    if (w.check) {
        sort_and_read(passing, n_passing, &expected);
        diff = compare(&result, &expected, n_groups);
    }
    free(passing);
    free(values);
    free(groups);
    free(conditions);
    free_aggregates(&result);
    free_aggregates(&expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%u of %u rows, %u group%s, %u blocks of %d threads", n_passing,
                           n, n_groups, n_groups == 1 ? "" : "s", blocks, THREADS);
}
