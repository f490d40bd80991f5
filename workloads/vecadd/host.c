// vecadd: the sum of two vectors. The inputs are small whole numbers, so the sums are exact.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "vecadd",
    .summary = "add two vectors of floats, one element per thread",
    .sizes = {"49,000 elements", "1,048,576 elements", "8,388,608 elements"},
};

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 49000, 1 << 20, 1 << 23);
    size_t count = (size_t)n, bytes = count * sizeof(float);
    float *a = workload_array(&w, count, sizeof *a);
    float *b = workload_array(&w, count, sizeof *b);
    float *c = workload_array(&w, count, sizeof *c);
    for (int i = 0; i < n; i++) {
        a[i] = (float)(workload_random(&w) & 1023);
        b[i] = (float)(workload_random(&w) & 1023);
    }

    CUdeviceptr device_a = workload_upload(&w, a, bytes), device_b = workload_upload(&w, b, bytes);
    CUdeviceptr device_c = workload_upload(&w, c, bytes);
    struct workload_shape shape = workload_shape(&w, count, 256);
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    workload_launch(&w, shape.covers ? "vecadd" : "vecadd_strided", grid,
                    (void *[]){&device_a, &device_b, &device_c, &n});
    workload_download(&w, c, device_c, bytes);

    struct workload_diff diff = {0};
    if (w.check) {
        for (int i = 0; i < n; i++)
            a[i] += b[i];
        diff = workload_diff_f32(c, a, count, 0.0, 0.0);
    }
    workload_device_free(&w, device_a);
    workload_device_free(&w, device_b);
    workload_device_free(&w, device_c);
    free(a);
    free(b);
    free(c);
    return workload_finish(&w, w.check ? &diff : NULL, "%d elements, %u blocks of %u threads", n, shape.blocks,
                           shape.threads);
}
