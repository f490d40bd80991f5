// compaction: the elements of a random stream below a limit, in their order.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "compaction",
    .summary = "stream compaction: the elements that pass a test, in their order, three launches",
    .sizes = {"8,192 elements", "131,072 elements", "4,194,304 elements"},
};

enum { LIMIT = 3 << 21, LANES = 32, SPAN = 1024 }; // three of eight elements are below the limit

static size_t compact(const struct workload *w, const uint32_t *in, int n, struct workload_shape shape, uint32_t *out) {
    unsigned limit = LIMIT, n_out;
    int n_blocks = (int)shape.blocks, stretch = (n + n_blocks - 1) / n_blocks;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    CUdeviceptr device_in = workload_upload(w, in, (size_t)n * sizeof *in);
    CUdeviceptr counts = workload_device_alloc(w, ((size_t)n_blocks + 1) * sizeof(uint32_t));
    CUdeviceptr device_out = workload_device_alloc(w, (size_t)n * sizeof *out);
    workload_launch(w, "count", grid, (void *[]){&device_in, &counts, &limit, &stretch, &n});
    workload_launch(w, "offsets", (struct workload_grid){1, 1, 1, 1, 0}, (void *[]){&counts, &n_blocks});
    workload_launch(w, "compact", grid, (void *[]){&device_in, &counts, &device_out, &limit, &stretch, &n});
    workload_download(w, &n_out, counts + (size_t)n_blocks * sizeof(uint32_t), sizeof n_out);
    if (n_out > (unsigned)n)
        workload_fail(w, "%u of %d elements", n_out, n);
    workload_download(w, out, device_out, n_out * sizeof *out);
    workload_device_free(w, device_in);
    workload_device_free(w, counts);
    workload_device_free(w, device_out);
    return n_out;
}

static size_t compact_reference(const uint32_t *in, int n, uint32_t *out) {
    size_t n_out = 0;
    for (int i = 0; i < n; i++)
        if (in[i] < LIMIT)
            out[n_out++] = in[i];
    return n_out;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 1 << 13, 1 << 17, 1 << 22);
    uint32_t *in = workload_array(&w, (size_t)n, sizeof *in), *out = workload_array(&w, (size_t)n, sizeof *out);
    uint32_t *expected = workload_array(&w, (size_t)n, sizeof *expected);
    for (int i = 0; i < n; i++)
        in[i] = workload_random(&w);
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    if (shape.threads % LANES)
        workload_usage_error(&w, "--threads-per-block takes a multiple of %d, not %u", LANES, shape.threads);
    if (!w.blocks)
        shape.blocks = (unsigned)(n + SPAN - 1) / SPAN;
    size_t n_out = compact(&w, in, n, shape, out);

    struct workload_diff diff = {0};
    if (w.check) {
        size_t n_expected = compact_reference(in, n, expected);
        diff = workload_diff_u32(out, expected, n_out < n_expected ? n_out : n_expected);
        if (n_out != n_expected)
            diff = (struct workload_diff){1, 1, 0, (double)n_out, (double)n_expected};
    }
    free(in);
    free(out);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu of %d elements, %u blocks of %u threads", n_out, n,
                           shape.blocks, shape.threads);
}
