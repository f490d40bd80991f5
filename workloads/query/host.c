// query: the program of `heddle query`. It reads a table and a query, runs the query on the device, and prints the rows
// as CSV, in the order of the table. The reference evaluates the query literally, row by row.
#include "../common/index_tree.h"
#include "sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, THREADS = 256, BUFFER_BYTES = 1024, BLOCKS_PER_SM = 4, EXIT_CHECK_FAILED = 3 };
#define SIGN UINT32_C(0x80000000)

enum { OPTION_SQL, OPTION_TABLE, OPTION_INDEX, OPTION_CODE };

static const struct workload_info info = {
    .name = "query",
    .summary = "a query over a table from a CSV file; 'heddle query' runs it",
    .sizes = {"the file's", "the file's", "the file's"},
    .blocks_fixed = "there is a thread for each row, or four blocks for each SM",
    .threads_fixed = "blocks have 256 threads",
    .options =
        {
            {"--sql", "TEXT", "the query", 0, 0},
            {"--table", "FILE.csv", "the table: a line of names, then lines of whole numbers", 0, 0},
            {"--index", "COLUMN", "build an index on this column, for comparisons with =", 0, 0},
            {"--code", "WHICH", "plain (default) or extended (Heddle's own instructions and row hints)", 0, 0},
        },
};

// As in kernel.cu.
struct device_condition {
    CUdeviceptr column;
    uint32_t low, span, is_outside;
};
struct device_conditions {
    struct device_condition item[SQL_MOST_COMPARISONS];
    uint32_t n;
};
struct device_output {
    CUdeviceptr values, n_out;
    uint32_t most;
};
struct device_aggregates {
    uint64_t sum;
    int32_t least, most;
};

struct run {
    struct workload *w;
    const struct table *table;
    const struct sql_query *query;
    bool is_extended;
    unsigned most_blocks;
    CUdeviceptr *column; // of the table; 0: not uploaded
};

// The result of the query.
struct result {
    uint32_t n_rows, *rows;
    int32_t **column;                                    // per item, without functions
    struct device_aggregates aggregates[SQL_MOST_ITEMS]; // per item, with functions
};

static size_t at_least_one(size_t n) { return n ? n : 1; }

// One thread per row, or as many as the device runs at once.
static struct workload_grid grid_for(const struct run *run, uint32_t n, unsigned shared_bytes) {
    unsigned blocks = n / THREADS + 1;
    return (struct workload_grid){blocks < run->most_blocks ? blocks : run->most_blocks, 1, THREADS, 1, shared_bytes};
}

static uint32_t ordered(int32_t value) { return (uint32_t)value ^ SIGN; }

static CUdeviceptr upload_column(struct run *run, unsigned c) {
    size_t n = at_least_one(run->table->n_rows);
    if (run->column[c])
        return run->column[c];
    uint32_t *values = workload_array(run->w, n, sizeof *values);
    for (unsigned i = 0; i < run->table->n_rows; i++)
        values[i] = ordered(run->table->column[c][i]);
    run->column[c] = workload_upload(run->w, values, n * sizeof *values);
    free(values);
    return run->column[c];
}

// ---- Conditions ---------------------------------------------------------------------------------------------------

static int64_t limited(int64_t number) {
    const int64_t most = INT64_C(1) << 33; // beyond all values, and far from an overflow
    return number > most ? most : number < -most ? -most : number;
}

static struct device_condition make_condition(struct run *run, const struct sql_comparison *comparison) {
    int64_t low = INT32_MIN, high = INT32_MAX, number = limited(comparison->number);
    bool has_low = comparison->op != SQL_LT && comparison->op != SQL_LE;
    bool has_high = comparison->op != SQL_GT && comparison->op != SQL_GE;
    int64_t first = comparison->op == SQL_GT ? number + 1 : number, last = number;
    if (comparison->op == SQL_LT)
        last = number - 1;
    else if (comparison->op == SQL_BETWEEN)
        last = limited(comparison->other);
    if (has_low && first > low)
        low = first;
    if (has_high && last < high)
        high = last;
    struct device_condition condition = {.column = upload_column(run, comparison->column),
                                         .low = (uint32_t)(low + SIGN),
                                         .span = (uint32_t)(high - low),
                                         .is_outside = comparison->op == SQL_NE};
    if (low > high) { // nothing is in the range: all is outside
        condition.low = 0;
        condition.span = UINT32_MAX;
        condition.is_outside = !condition.is_outside;
    }
    return condition;
}

// The rows that meet all comparisons but `skipped`, in order. candidates is 0 for the whole table.
static void filter(struct run *run, CUdeviceptr candidates, uint32_t n, const struct sql_comparison *skipped,
                   struct result *result) {
    struct device_conditions conditions = {.n = 0};
    for (unsigned i = 0; i < run->query->n_comparisons; i++)
        if (&run->query->comparison[i] != skipped)
            conditions.item[conditions.n++] = make_condition(run, &run->query->comparison[i]);
    uint32_t n_out[2] = {0};
    size_t bytes = at_least_one(n) * sizeof *result->rows;
    struct device_output out = {workload_device_alloc(run->w, bytes), workload_upload(run->w, n_out, sizeof n_out), n};
    workload_launch(run->w, run->is_extended ? "query_filter_extended" : "query_filter",
                    grid_for(run, n, THREADS / WARP * BUFFER_BYTES), (void *[]){&conditions, &candidates, &n, &out});
    workload_download(run->w, n_out, out.n_out, sizeof n_out);
    if ((uint64_t)n_out[0] + n_out[1] > n)
        workload_fail(run->w, "the kernel says it found %u + %u of %u rows", n_out[0], n_out[1], n);
    result->n_rows = n_out[0] + n_out[1];
    result->rows = workload_array(run->w, at_least_one(n), sizeof *result->rows);
    size_t rest_bytes = n_out[1] * sizeof *result->rows;
    if (n_out[0])
        workload_download(run->w, result->rows, out.values, n_out[0] * sizeof *result->rows);
    if (n_out[1])
        workload_download(run->w, result->rows + n_out[0], out.values + n * sizeof *result->rows - rest_bytes,
                          rest_bytes);
    workload_device_free(run->w, out.values);
    workload_device_free(run->w, out.n_out);
}

static int compare_rows(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

// ---- Index --------------------------------------------------------------------------------------------------------

struct index_entry {
    uint32_t key, row;
};

static int compare_entries(const void *left, const void *right) {
    const struct index_entry *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->row > b->row) - (a->row < b->row);
}

// Returns the first comparison that the index can serve: INDEX_NO_KEY, the largest number, is not a key.
static const struct sql_comparison *index_comparison(const struct run *run, int column) {
    for (unsigned i = 0; i < run->query->n_comparisons; i++) {
        const struct sql_comparison *comparison = &run->query->comparison[i];
        if ((int)comparison->column == column && comparison->op == SQL_EQ && comparison->number >= INT32_MIN &&
            comparison->number < INT32_MAX)
            return comparison;
    }
    return NULL;
}

static uint32_t find_rank(struct run *run, const struct index_keys *keys, uint32_t key) {
    struct index_tree tree = index_tree_new(run->w, *keys, INDEX_NODE_KEYS);
    uint32_t rank = 0;
    CUdeviceptr device_rank = workload_upload(run->w, &rank, sizeof rank);
    index_tree_need_all(&tree);
    index_tree_upload(run->w, &tree);
    workload_launch(run->w, run->is_extended ? "query_find_extended" : "query_find",
                    (struct workload_grid){1, 1, WARP, 1, 0}, (void *[]){&tree.device, &key, &device_rank});
    workload_download(run->w, &rank, device_rank, sizeof rank);
    workload_device_free(run->w, device_rank);
    index_tree_free(run->w, &tree);
    return rank;
}

// Rows sorted by the column; the index has each of its values once, and where their rows begin.
static void filter_by_index(struct run *run, const struct sql_comparison *comparison, struct result *result) {
    uint32_t n = run->table->n_rows, n_keys = 0;
    struct index_entry *entry = workload_array(run->w, at_least_one(n), sizeof *entry);
    uint32_t *key = workload_array(run->w, at_least_one(n), sizeof *key);
    uint32_t *begin = workload_array(run->w, n + 1, sizeof *begin);
    for (uint32_t i = 0; i < n; i++)
        entry[i] = (struct index_entry){ordered(run->table->column[comparison->column][i]), i};
    qsort(entry, n, sizeof *entry, compare_entries);
    for (uint32_t i = 0; i < n && entry[i].key != INDEX_NO_KEY; i++) {
        if (n_keys == 0 || entry[i].key != key[n_keys - 1]) {
            key[n_keys] = entry[i].key;
            begin[n_keys++] = i;
        }
        begin[n_keys] = i + 1;
    }
    struct index_keys keys = {.n = n_keys, .key = key};
    uint32_t rank = n_keys ? find_rank(run, &keys, ordered((int32_t)comparison->number)) : 0;
    uint32_t first = rank < n_keys ? begin[rank] : 0, n_candidates = rank < n_keys ? begin[rank + 1] - first : 0;
    uint32_t *candidates = workload_array(run->w, at_least_one(n_candidates), sizeof *candidates);
    for (uint32_t i = 0; i < n_candidates; i++)
        candidates[i] = entry[first + i].row;
    if (run->query->n_comparisons == 1) {
        result->n_rows = n_candidates;
        result->rows = candidates;
    } else {
        CUdeviceptr device = workload_upload(run->w, candidates, at_least_one(n_candidates) * sizeof *candidates);
        filter(run, device, n_candidates, comparison, result);
        workload_device_free(run->w, device);
        free(candidates);
    }
    free(entry);
    free(key);
    free(begin);
}

// ---- What is selected ---------------------------------------------------------------------------------------------

static void gather(struct run *run, struct result *result) {
    uint32_t n = result->n_rows;
    size_t bytes = at_least_one(n) * sizeof(uint32_t);
    struct workload_grid grid = grid_for(run, n, 0);
    CUdeviceptr rows = workload_upload(run->w, result->rows, bytes), out = workload_device_alloc(run->w, bytes);
    result->column = workload_array(run->w, run->query->n_items, sizeof *result->column);
    for (unsigned i = 0; i < run->query->n_items; i++) {
        CUdeviceptr column = upload_column(run, run->query->item[i].column);
        result->column[i] = workload_array(run->w, at_least_one(n), sizeof *result->column[i]);
        if (n == 0)
            continue;
        workload_launch(run->w, "query_gather", grid, (void *[]){&column, &rows, &n, &out});
        workload_download(run->w, result->column[i], out, bytes);
    }
    workload_device_free(run->w, rows);
    workload_device_free(run->w, out);
}

static const struct device_aggregates no_rows = {0, INT32_MAX, INT32_MIN};

static void aggregate(struct run *run, struct result *result) {
    uint32_t n = result->n_rows;
    struct workload_grid grid = grid_for(run, n, 0);
    CUdeviceptr rows = workload_upload(run->w, result->rows, at_least_one(n) * sizeof *result->rows);
    for (unsigned i = 0; i < run->query->n_items; i++) {
        result->aggregates[i] = no_rows;
        if (run->query->item[i].function == SQL_COUNT || n == 0)
            continue;
        CUdeviceptr column = upload_column(run, run->query->item[i].column);
        CUdeviceptr out = workload_upload(run->w, &no_rows, sizeof no_rows);
        workload_launch(run->w, "query_aggregate", grid, (void *[]){&column, &rows, &n, &out});
        workload_download(run->w, &result->aggregates[i], out, sizeof no_rows);
        workload_device_free(run->w, out);
    }
    workload_device_free(run->w, rows);
}

// ---- Reference ----------------------------------------------------------------------------------------------------

static bool meets(const struct sql_comparison *comparison, int64_t value) {
    switch (comparison->op) {
    case SQL_EQ:
        return value == comparison->number;
    case SQL_LT:
        return value < comparison->number;
    case SQL_GT:
        return value > comparison->number;
    case SQL_LE:
        return value <= comparison->number;
    case SQL_GE:
        return value >= comparison->number;
    case SQL_NE:
        return value != comparison->number;
    default:
        return comparison->number <= value && value <= comparison->other;
    }
}

static bool passes(const struct run *run, uint32_t row) {
    for (unsigned i = 0; i < run->query->n_comparisons; i++) {
        const struct sql_comparison *comparison = &run->query->comparison[i];
        if (!meets(comparison, run->table->column[comparison->column][row]))
            return false;
    }
    return true;
}

static bool is_right(const struct run *run, const struct result *result) {
    struct device_aggregates right[SQL_MOST_ITEMS];
    const struct sql_query *query = run->query;
    uint32_t n = 0;
    for (unsigned i = 0; i < query->n_items; i++)
        right[i] = no_rows;
    for (uint32_t row = 0; row < run->table->n_rows; row++) {
        if (!passes(run, row))
            continue;
        if (n == result->n_rows || result->rows[n] != row)
            return false;
        for (unsigned i = 0; i < query->n_items; i++) {
            int32_t value = run->table->column[query->item[i].column][row];
            if (!query->has_functions && result->column[i][n] != value)
                return false;
            right[i].sum += (uint64_t)(int64_t)value;
            right[i].least = value < right[i].least ? value : right[i].least;
            right[i].most = value > right[i].most ? value : right[i].most;
        }
        n++;
    }
    bool is_same = n == result->n_rows;
    for (unsigned i = 0; i < query->n_items && query->has_functions; i++)
        if (query->item[i].function != SQL_COUNT)
            is_same = is_same && memcmp(&right[i], &result->aggregates[i], sizeof right[i]) == 0;
    return is_same;
}

// ---- Output -------------------------------------------------------------------------------------------------------

// As in SQLite, the sum, minimum and maximum of no rows are NULL, an empty field in CSV.
static void print_function(enum sql_function function, const struct device_aggregates *aggregates, uint32_t n) {
    if (function == SQL_COUNT)
        printf("%u", n);
    else if (n > 0)
        printf("%lld", function == SQL_SUM   ? (long long)aggregates->sum
                       : function == SQL_MIN ? aggregates->least
                                             : aggregates->most);
}

static void print_result(const struct run *run, const struct result *result) {
    const struct sql_query *query = run->query;
    uint32_t n_lines = query->has_functions ? 1 : result->n_rows;
    for (uint32_t line = 0; line < n_lines; line++)
        for (unsigned i = 0; i < query->n_items; i++) {
            if (query->has_functions)
                print_function(query->item[i].function, &result->aggregates[i], result->n_rows);
            else
                printf("%d", result->column[i][line]);
            putchar(i + 1 < query->n_items ? ',' : '\n');
        }
    if (fflush(stdout))
        workload_fail(run->w, "cannot write the result: %s", strerror(errno));
}

static void free_all(struct run *run, struct result *result) {
    for (unsigned c = 0; c < run->table->n_columns; c++)
        if (run->column[c])
            workload_device_free(run->w, run->column[c]);
    for (unsigned i = 0; i < run->query->n_items && result->column; i++)
        free(result->column[i]);
    free(result->column);
    free(result->rows);
    free(run->column);
}

// ---- The program --------------------------------------------------------------------------------------------------

static unsigned most_blocks(const struct workload *w) {
    int n_sms;
    WORKLOAD_CUDA(w, cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, w->device));
    return (unsigned)n_sms * BLOCKS_PER_SM;
}

static int index_column(const struct workload *w, const struct table *table) {
    const char *name = w->option[OPTION_INDEX].text;
    int column = name ? table_find(table, name, strlen(name)) : -1;
    if (name && column < 0)
        workload_usage_error(w, "--index: no column '%s' in %s", name, w->option[OPTION_TABLE].text);
    return column;
}

static bool is_extended(const struct workload *w) {
    const char *code = w->option[OPTION_CODE].text;
    if (code && strcmp(code, "plain") && strcmp(code, "extended"))
        workload_usage_error(w, "--code is plain or extended, not '%s'", code);
    return code && strcmp(code, "extended") == 0;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    if (!w.option[OPTION_SQL].text || !w.option[OPTION_TABLE].text)
        workload_usage_error(&w, "--sql and --table are needed");
    struct table table = table_read(&w, w.option[OPTION_TABLE].text);
    struct sql_query query = sql_parse(&w, w.option[OPTION_SQL].text, &table);
    struct run run = {.w = &w,
                      .table = &table,
                      .query = &query,
                      .is_extended = is_extended(&w),
                      .most_blocks = most_blocks(&w),
                      .column = workload_array(&w, table.n_columns, sizeof *run.column)};
    struct result result = {0};
    const struct sql_comparison *by_index = index_comparison(&run, index_column(&w, &table));
    if (by_index)
        filter_by_index(&run, by_index, &result);
    else
        filter(&run, 0, table.n_rows, NULL, &result);
    qsort(result.rows, result.n_rows, sizeof *result.rows, compare_rows);
    if (query.has_functions)
        aggregate(&run, &result);
    else
        gather(&run, &result);
    bool is_wrong = w.check && !is_right(&run, &result);
    if (!is_wrong)
        print_result(&run, &result);
    free_all(&run, &result);
    table_free(&table);
    WORKLOAD_CUDA(&w, cuModuleUnload(w.module));
    WORKLOAD_CUDA(&w, cuDevicePrimaryCtxRelease(w.device));
    return is_wrong ? EXIT_CHECK_FAILED : 0;
}
