// merge_rows: whole numbers of 8 bytes sorted into ascending order, without shared memory. The reference is the C
// library's qsort().
#include "../common/workload.h"

#include <stdlib.h>

enum { PIECE = 32 }; // elements that a thread merges at a time

static const struct workload_info info = {
    .name = "merge_rows",
    .summary = "merge sort without shared memory: one launch for each doubling of the runs",
    .sizes = {"2,500 numbers", "40,000 numbers", "300,000 numbers"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// Sorts the n numbers of `data` on the device; returns the number of launches.
static int sort(const struct workload *w, int64_t *data, int n, struct workload_shape shape) {
    size_t bytes = (size_t)n * sizeof *data;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    int n_launches = 0, rejoins = workload_rejoins(w);
    CUdeviceptr from = workload_upload(w, data, bytes), to = workload_device_alloc(w, bytes);
    for (int width = 1; width < n; width *= 2, n_launches++) {
        int piece = 2 * width < PIECE ? 2 * width : PIECE;
        workload_launch(w, "merge_runs", grid, (void *[]){&from, &to, &n, &width, &piece, &rejoins});
        CUdeviceptr sorted = to;
        to = from;
        from = sorted;
    }
    workload_download(w, data, from, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
    return n_launches;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 2500, 40000, 300000);
    size_t count = (size_t)n;
    int64_t *data = workload_array(&w, count, sizeof *data), *expected = workload_array(&w, count, sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        int64_t high = workload_random(&w), low = workload_random(&w);
        expected[i] = data[i] = (high - (1 << 23)) * (1 << 24) + low;
    }
    struct workload_shape shape = workload_loop_shape(&w, (count + PIECE - 1) / PIECE);
    int n_launches = sort(&w, data, n, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        qsort(expected, count, sizeof *expected, compare);
        diff = workload_diff_i64(data, expected, count);
    }
    free(data);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d numbers, %d launches of %u blocks of %u threads", n,
                           n_launches, shape.blocks, shape.threads);
}
