// divergent: two paths by thread parity, each of a random length.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "divergent",
    .summary = "odd and even threads on different paths with data-dependent loops",
    .sizes = {"3,328 threads", "65,536 threads", "524,288 threads"},
};

// x -> x/2 + 3, `steps` times, each step rounded once as a fused multiply-add rounds it.
static uint32_t odd_reference(uint32_t i, int steps) {
    float x = (float)(i % 256 + 1);
    uint32_t bits;
    while (steps-- > 0)
        x = fmaf(x, 0.5f, 3.0f);
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t even_reference(uint32_t i, int steps) {
    while (steps-- > 0) {
        i = i * 1664525u + 1013904223u;
        uint32_t is_set = i >> 16 & 1;
        i ^= (i >> 7) * is_set;
    }
    return i;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 3328, 65536, 524288);
    size_t count = (size_t)n;
    int *trip = workload_array(&w, count, sizeof *trip);
    uint32_t *out = workload_array(&w, count, sizeof *out), *expected = workload_array(&w, count, sizeof *expected);
    for (int i = 0; i < n; i++)
        trip[i] = 1 + (int)(workload_random(&w) & 63);

    CUdeviceptr device_trip = workload_upload(&w, trip, count * sizeof *trip);
    CUdeviceptr device_out = workload_upload(&w, out, count * sizeof *out);
    struct workload_shape shape = workload_shape(&w, count, 256);
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    workload_launch(&w, shape.covers ? "divergent" : "divergent_strided", grid,
                    (void *[]){&device_trip, &device_out, &n});
    workload_download(&w, out, device_out, count * sizeof *out);

    struct workload_diff diff = {0};
    if (w.check) {
        for (uint32_t i = 0; i < count; i++)
            expected[i] = i % 2 ? odd_reference(i, 2 * trip[i]) : even_reference(i, trip[i]);
        diff = workload_diff_u32(out, expected, count);
    }
    workload_device_free(&w, device_trip);
    workload_device_free(&w, device_out);
    free(trip);
    free(out);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d items, %u blocks of %u threads", n, shape.blocks,
                           shape.threads);
}
