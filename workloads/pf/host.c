// pf: the cheapest way from the first row of a grid of costs to each cell of the last one.
//
// The reference works the other way: it pushes each cell's path cost to the three cells below, row by row over the
// whole width, without tiles.
#include "../common/workload.h"

#include <limits.h>
#include <stdlib.h>

enum { HALO = 20 }; // the paper's pyramid height: rows in one launch

static const struct workload_info info = {
    .name = "pf",
    .summary = "pathfinder: dynamic programming over rows, several rows per launch in shared memory",
    .sizes = {"2,160 x 10 costs, 20 rows per launch", "10,000 x 50 costs, 20 rows per launch",
              "100,000 x 100 costs, 20 rows per launch"},
};

static void push_reference(const struct workload *w, const int *costs, int *path, int n_columns, int n_rows) {
    int *below = workload_array(w, (size_t)n_columns, sizeof *below);
    for (int i = 0; i < n_columns; i++)
        path[i] = costs[i];
    for (int row = 1; row < n_rows; row++) {
        for (int i = 0; i < n_columns; i++)
            below[i] = INT_MAX;
        for (int i = 0; i < n_columns; i++)
            for (int to = i > 0 ? i - 1 : 0; to <= i + 1 && to < n_columns; to++)
                if (path[i] < below[to])
                    below[to] = path[i];
        for (int i = 0; i < n_columns; i++)
            path[i] = below[i] + costs[(size_t)row * (size_t)n_columns + (size_t)i];
    }
    free(below);
}

// Returns the number of launches.
static int find_paths(const struct workload *w, const int *costs, int *path, int n_columns, int n_rows,
                      struct workload_grid grid) {
    size_t row_bytes = (size_t)n_columns * sizeof(int);
    int n_launches = 0, halo = HALO;
    CUdeviceptr device_costs = workload_upload(w, costs, row_bytes * (size_t)n_rows);
    CUdeviceptr from = workload_upload(w, costs, row_bytes), to = workload_device_alloc(w, row_bytes);
    for (int row = 1; row < n_rows; row += HALO, n_launches++) {
        int rows_now = n_rows - row < HALO ? n_rows - row : HALO;
        CUdeviceptr first = device_costs + (size_t)row * row_bytes, swap = from;
        workload_launch(w, "pf", grid, (void *[]){&first, &from, &to, &n_columns, &rows_now, &halo});
        from = to;
        to = swap;
    }
    workload_download(w, path, from, row_bytes);
    workload_device_free(w, device_costs);
    workload_device_free(w, from);
    workload_device_free(w, to);
    return n_launches;
}

static struct workload_grid choose_grid(const struct workload *w, int n_columns) {
    unsigned threads = w->threads_per_block ? w->threads_per_block : 256;
    if (threads <= 2 * HALO)
        workload_usage_error(w, "--threads-per-block must be more than %d here: a block loses %d columns on each side",
                             2 * HALO, HALO);
    unsigned width = threads - 2 * HALO;
    unsigned blocks = w->blocks ? w->blocks : ((unsigned)n_columns + width - 1) / width;
    return (struct workload_grid){blocks, 1, threads, 1, 2 * threads * (unsigned)sizeof(int)};
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n_columns = (int)workload_pick(&w, 2160, 10000, 100000), n_rows = (int)workload_pick(&w, 10, 50, 100);
    size_t n_cells = (size_t)n_columns * (size_t)n_rows;
    int *costs = workload_array(&w, n_cells, sizeof *costs);
    for (size_t i = 0; i < n_cells; i++)
        costs[i] = (int)(workload_random(&w) % 10);
    int *path = workload_array(&w, (size_t)n_columns, sizeof *path);
    struct workload_grid grid = choose_grid(&w, n_columns);
    int n_launches = find_paths(&w, costs, path, n_columns, n_rows, grid);

    struct workload_diff diff = {0};
    if (w.check) {
        int *expected = workload_array(&w, (size_t)n_columns, sizeof *expected);
        push_reference(&w, costs, expected, n_columns, n_rows);
        diff = workload_diff_i32(path, expected, (size_t)n_columns);
        free(expected);
    }
    free(costs);
    free(path);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d costs, %d launch%s of %u blocks of %u threads",
                           n_columns, n_rows, n_launches, n_launches == 1 ? "" : "es", grid.blocks_x, grid.threads_x);
}
