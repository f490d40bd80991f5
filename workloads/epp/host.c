// epp: pi by Monte Carlo, with a random number generator in the kernel.
//
// The reference uses no matrices: it steps through the sequence from its beginning and takes each thread's numbers from
// that thread's stream. Counts must be equal.
#include "../common/workload.h"
#include "../common/xorwow.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "epp",
    .summary = "pi by Monte Carlo, one random number stream per thread",
    .sizes = {"1,000 points, 128 threads", "10,000 points, 1,280 threads", "100,000 points, 24,960 threads"},
};

// ---- Reference ----------------------------------------------------------------------------------------------------

// Computes float operations in double precision and rounds once, which equals the float operation.
static bool is_inside(float x, float y) {
    float xx = (float)((double)x * (double)x), yy = (float)((double)y * (double)y);
    return (float)((double)xx + (double)yy) <= 1.0f;
}

static float next_uniform(struct xorwow *s) { return (float)(xorwow_next(s) >> 8) * 0x1p-24f; }

static uint32_t count_reference(struct xorwow stream_start, int n_points, int n_threads) {
    uint32_t n_inside = 0;
    for (int thread = 0; thread < n_threads && thread < n_points; thread++) {
        struct xorwow s = stream_start;
        for (int i = thread; i < n_points; i += n_threads) {
            float x = next_uniform(&s), y = next_uniform(&s);
            n_inside += is_inside(x, y);
        }
        for (int i = 0; i < XORWOW_STREAM_STEPS; i++)
            next_uniform(&stream_start);
    }
    return n_inside;
}

// ---- Device -------------------------------------------------------------------------------------------------------

static uint32_t count_on_device(const struct workload *w, struct xorwow seed, int n_points,
                                struct workload_shape shape) {
    unsigned n_threads = shape.blocks * shape.threads;
    uint32_t n_inside = 0, stream_steps = XORWOW_STREAM_STEPS;
    CUdeviceptr device_matrices = xorwow_upload_matrices(w, n_threads);
    CUdeviceptr device_seed = workload_upload(w, &seed, sizeof seed);
    CUdeviceptr device_count = workload_upload(w, &n_inside, sizeof n_inside);
    workload_launch(w, "epp", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&device_matrices, &device_seed, &stream_steps, &n_points, &device_count});
    workload_download(w, &n_inside, device_count, sizeof n_inside);
    workload_device_free(w, device_matrices);
    workload_device_free(w, device_seed);
    workload_device_free(w, device_count);
    return n_inside;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n_points = (int)workload_pick(&w, 1000, 10000, 100000);
    unsigned n_threads = workload_pick(&w, 128, 1280, 24960);
    struct workload_shape shape = workload_shape(&w, n_threads, workload_pick(&w, 64, 128, 128));
    struct xorwow seed = xorwow_seed(&w);
    uint32_t n_inside = count_on_device(&w, seed, n_points, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        uint32_t expected = count_reference(seed, n_points, (int)(shape.blocks * shape.threads));
        diff = workload_diff_u32(&n_inside, &expected, 1);
    }
    return workload_finish(&w, w.check ? &diff : NULL, "pi is about %.4f, %d points, %u blocks of %u threads",
                           4.0 * n_inside / n_points, n_points, shape.blocks, shape.threads);
}
