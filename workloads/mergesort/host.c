// mergesort: ints sorted into ascending order. The reference is the C library's qsort().
#include "../common/workload.h"

#include <stdlib.h>

enum { TILE_CHUNK = 2, RUN_CHUNK = 8 }; // as in kernel.cu

static const struct workload_info info = {
    .name = "mergesort",
    .summary = "merge sort: tiles in shared memory, then one launch for each doubling of the runs",
    .sizes = {"1,500 ints", "25,000 ints", "300,000 ints"},
};

static int compare_ints(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

// Sorts the n ints of `data` on the device; returns the number of launches.
static int sort(const struct workload *w, int *data, int n, unsigned threads) {
    size_t bytes = (size_t)n * sizeof(int);
    int width = TILE_CHUNK * (int)threads, n_launches = 1;
    CUdeviceptr from = workload_upload(w, data, bytes), to = workload_device_alloc(w, bytes);
    struct workload_shape tiles = workload_shape(w, (size_t)(n + TILE_CHUNK - 1) / TILE_CHUNK, threads);
    struct workload_shape pieces = workload_shape(w, (size_t)(n + RUN_CHUNK - 1) / RUN_CHUNK, threads);
    workload_launch(w, "sort_tiles",
                    (struct workload_grid){tiles.blocks, 1, threads, 1, 2 * (unsigned)width * (unsigned)sizeof(int)},
                    (void *[]){&from, &to, &n});
    for (; width < n; width *= 2, n_launches++) {
        CUdeviceptr sorted = to;
        to = from;
        from = sorted;
        workload_launch(w, "merge_runs", (struct workload_grid){pieces.blocks, 1, threads, 1, 0},
                        (void *[]){&from, &to, &n, &width});
    }
    workload_download(w, data, to, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
    return n_launches;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned threads = w.threads_per_block ? w.threads_per_block : 256;
    if (threads % (RUN_CHUNK / TILE_CHUNK))
        workload_usage_error(
            &w, "--threads-per-block must be a multiple of %d here, so that a tile holds whole pieces of %d elements",
            RUN_CHUNK / TILE_CHUNK, RUN_CHUNK);
    int n = (int)workload_pick(&w, 1500, 25000, 300000);
    size_t count = (size_t)n;
    int *data = workload_array(&w, count, sizeof *data), *expected = workload_array(&w, count, sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        uint32_t high = workload_random(&w), low = workload_random(&w);
        expected[i] = data[i] = (int)(high << 8 ^ low); // covers the whole range of an int
    }
    int n_launches = sort(&w, data, n, threads);

    struct workload_diff diff = {0};
    if (w.check) {
        qsort(expected, count, sizeof *expected, compare_ints);
        diff = workload_diff_i32(data, expected, count);
    }
    free(data);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d ints, %d launches, %u threads a block", n, n_launches,
                           threads);
}
