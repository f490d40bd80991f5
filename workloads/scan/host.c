// scan: full table scan. The reference evaluates the conditions literally, row by row. Both results are sorted, because
// warps write in no fixed order.
#include "../common/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 4, WARP = 32, BUFFER_BYTES = 1024 }; // the last as in kernel.cu

enum where { WHERE_LT, WHERE_GT, WHERE_EQ, WHERE_BETWEEN, N_WHERES };
static const char *const where_names[N_WHERES] = {"lt", "gt", "eq", "between"};

enum { OPTION_CODE, OPTION_WHERE, OPTION_SELECTIVITY, OPTION_COLUMNS };

static const struct workload_info info = {
    .name = "scan",
    .summary = "full table scan: rows that meet a condition, collected by each warp in shared memory",
    .sizes = {"32,768 rows", "1,048,576 rows", "4,194,304 rows"},
    .options =
        {
            {"--code", "WHICH",
             "ballot (today's GPUs, the default), cond_acc (Heddle's own), or ballot_skip, cond_acc_skip", 0, 0},
            {"--where", "WHICH", "condition on each column: lt (default), gt, eq or between", 0, 0},
            {"--selectivity", "N", "one row in N meets the condition on a column (default 2)", 1, 1048576},
            {"--columns", "N", "columns that must meet their condition (default 1)", 1, MOST_COLUMNS},
        },
};

// As in kernel.cu.
struct query {
    CUdeviceptr column[MOST_COLUMNS];
    uint32_t low[MOST_COLUMNS], span[MOST_COLUMNS];
    uint32_t n_rows;
};

struct table {
    enum where where;
    unsigned selectivity, n_columns, n_rows;
    uint32_t *column[MOST_COLUMNS];
    uint32_t low[MOST_COLUMNS], high[MOST_COLUMNS]; // the condition's bounds, both included
};

static int choice(const struct workload *w, int option, const char *const *names, int n, int by_default) {
    const char *text = w->option[option].text;
    if (!text)
        return by_default;
    for (int i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    char list[64] = "";
    for (int i = 0; i < n; i++) {
        strcat(list, i == 0 ? "" : i + 1 == n ? " or " : ", ");
        strcat(list, names[i]);
    }
    workload_usage_error(w, "%s is %s, not '%s'", info.options[option].name, list, text);
}

static unsigned number(const struct workload *w, int option, unsigned by_default) {
    return w->option[option].text ? w->option[option].number : by_default;
}

// Fills a column with uniform 32-bit values, of which one in `selectivity` meets the condition; for eq there are that
// many different values.
static void fill_column(struct workload *w, struct table *table, unsigned c) {
    uint64_t all = UINT64_C(1) << 32, share = all / table->selectivity;
    uint32_t *column = table->column[c] = workload_array(w, table->n_rows, sizeof *column);
    for (unsigned i = 0; i < table->n_rows; i++) {
        uint32_t high = workload_random(w), low = workload_random(w);
        column[i] = high << 8 ^ low;
        if (table->where == WHERE_EQ)
            column[i] %= table->selectivity;
    }
    uint64_t first = table->where == WHERE_LT   ? 0
                     : table->where == WHERE_GT ? all - share
                     : table->where == WHERE_EQ ? table->selectivity / 2
                                                : (all - share) / 2;
    table->low[c] = (uint32_t)first;
    table->high[c] = (uint32_t)(table->where == WHERE_EQ ? first : first + share - 1);
}

static bool meets(enum where where, uint32_t value, uint32_t low, uint32_t high) {
    switch (where) {
    case WHERE_LT:
        return value < (uint64_t)high + 1;
    case WHERE_GT:
        return value > (int64_t)low - 1;
    case WHERE_EQ:
        return value == low;
    default:
        return low <= value && value <= high;
    }
}

static uint32_t select_rows(const struct table *table, uint32_t *out) {
    uint32_t n = 0;
    for (unsigned row = 0; row < table->n_rows; row++) {
        bool passes = true;
        for (unsigned c = 0; c < table->n_columns; c++)
            passes = passes && meets(table->where, table->column[c][row], table->low[c], table->high[c]);
        if (passes)
            out[n++] = table->column[0][row];
    }
    return n;
}

static int compare_values(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

// Returns the number of rows in out.
static uint32_t run(const struct workload *w, const struct table *table, const char *kernel, struct workload_grid grid,
                    uint32_t *out) {
    struct query query = {.n_rows = table->n_rows};
    size_t bytes = (size_t)table->n_rows * sizeof *out;
    for (unsigned c = 0; c < table->n_columns; c++) {
        query.column[c] = workload_upload(w, table->column[c], bytes);
        query.low[c] = table->low[c];
        query.span[c] = table->high[c] - table->low[c];
    }
    uint32_t n_out[2] = {0}; // at the begin and at the end of the output
    CUdeviceptr device_out = workload_device_alloc(w, bytes), device_n = workload_upload(w, n_out, sizeof n_out);
    workload_launch(w, kernel, grid, (void *[]){&query, &device_out, &device_n});
    workload_download(w, n_out, device_n, sizeof n_out);
    if ((uint64_t)n_out[0] + n_out[1] > table->n_rows)
        workload_fail(w, "the kernel says it wrote %u + %u of %u rows", n_out[0], n_out[1], table->n_rows);
    size_t lines_bytes = n_out[0] * sizeof *out, rest_bytes = n_out[1] * sizeof *out;
    if (lines_bytes)
        workload_download(w, out, device_out, lines_bytes);
    if (rest_bytes)
        workload_download(w, out + n_out[0], device_out + bytes - rest_bytes, rest_bytes);
    for (unsigned c = 0; c < table->n_columns; c++)
        workload_device_free(w, query.column[c]);
    workload_device_free(w, device_out);
    workload_device_free(w, device_n);
    return n_out[0] + n_out[1];
}

int main(int argc, char **argv) {
    static const char *const codes[] = {"ballot", "cond_acc", "ballot_skip", "cond_acc_skip"};
    static const char *const kernels[] = {"scan", "scan_cond_acc", "scan_skip", "scan_cond_acc_skip"};
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int code = choice(&w, OPTION_CODE, codes, 4, 0);
    struct table table = {.where = (enum where)choice(&w, OPTION_WHERE, where_names, N_WHERES, WHERE_LT),
                          .selectivity = number(&w, OPTION_SELECTIVITY, 2),
                          .n_columns = number(&w, OPTION_COLUMNS, 1),
                          .n_rows = workload_pick(&w, 1u << 15, 1u << 20, 1u << 22)};
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256, blocks = w.blocks ? w.blocks : 1024 / 256;
    if (threads % WARP)
        workload_usage_error(&w, "--threads-per-block must be a multiple of %d here: a buffer belongs to a warp", WARP);
    for (unsigned c = 0; c < table.n_columns; c++)
        fill_column(&w, &table, c);

    char kernel[32];
    snprintf(kernel, sizeof kernel, "%s_%u", kernels[code], table.n_columns);
    uint32_t *out = workload_array(&w, table.n_rows, sizeof *out);
    struct workload_grid grid = {blocks, 1, threads, 1, threads / WARP * BUFFER_BYTES};
    uint32_t n_out = run(&w, &table, kernel, grid, out);

    struct workload_diff diff = {0};
    if (w.check) {
        uint32_t *expected = workload_array(&w, table.n_rows, sizeof *expected);
        uint32_t n_expected = select_rows(&table, expected);
        qsort(expected, n_expected, sizeof *expected, compare_values);
        qsort(out, n_out, sizeof *out, compare_values);
        diff =
            n_out == n_expected ? workload_diff_u32(out, expected, n_out) : workload_diff_u32(&n_out, &n_expected, 1);
        free(expected);
    }
    free(out);
    for (unsigned c = 0; c < table.n_columns; c++)
        free(table.column[c]);
    return workload_finish(&w, w.check ? &diff : NULL, "%u of %u rows, %u column%s, %s, %u x %u threads", n_out,
                           table.n_rows, table.n_columns, table.n_columns == 1 ? "" : "s", codes[code], blocks,
                           threads);
}
