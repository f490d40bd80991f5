// lps: Jacobi steps for Laplace's equation on a box of points with fixed faces.
//
// The reference is in double precision and works on differences: a point moves by a sixth of the sum of its differences
// from its neighbours. Tolerance: 1e-6. Values are at most 1, and a float mean of six such values loses at most 3e-7.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { TILE_X = 32, TILE_Y = 4 }; // as in kernel.cu
enum { N_STEPS = 1 };

static const struct workload_info info = {
    .name = "lps",
    .summary = "Laplace's equation in three dimensions, one step, a column of points per thread",
    .sizes = {"34 x 34 x 34 points", "64 x 64 x 64 points", "100 x 100 x 100 points"},
    .blocks_fixed = "there is a block for each tile of a plane",
    .threads_fixed = "a block is one tile of 32 x 4 threads",
    .options = {{"--code", "WHICH", "plain (default), or progress: with Heddle's own instruction", 0, 0}},
};

static const char *kernel_of(const struct workload *w) {
    const char *code = w->option[0].text;
    if (!code || strcmp(code, "plain") == 0)
        return "lps";
    if (strcmp(code, "progress") == 0)
        return "lps_progress";
    workload_usage_error(w, "--code is plain or progress, not '%s'", code);
}

static void step_reference(const double *from, double *to, size_t n) {
    const size_t stride[] = {1, n, n * n};
    for (size_t i = 0; i < n * n * n; i++) {
        size_t at[] = {i % n, i / n % n, i / (n * n)};
        bool on_face = false;
        for (int axis = 0; axis < 3; axis++)
            on_face |= at[axis] == 0 || at[axis] == n - 1;
        double sum = 0.0;
        for (int axis = 0; axis < 3 && !on_face; axis++)
            sum += (from[i - stride[axis]] - from[i]) + (from[i + stride[axis]] - from[i]);
        to[i] = from[i] + sum / 6.0;
    }
}

static void solve_reference(const struct workload *w, const float *start, float *result, size_t n) {
    size_t n_points = n * n * n;
    double *from = workload_array(w, n_points, sizeof *from), *to = workload_array(w, n_points, sizeof *to);
    for (size_t i = 0; i < n_points; i++)
        from[i] = (double)start[i];
    for (int step = 0; step < N_STEPS; step++) {
        double *swap = from;
        step_reference(from, to, n);
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < n_points; i++)
        result[i] = (float)from[i];
    free(from);
    free(to);
}

static void solve(const struct workload *w, const float *start, float *result, int n, struct workload_grid grid) {
    size_t bytes = (size_t)n * (size_t)n * (size_t)n * sizeof(float);
    CUdeviceptr from = workload_upload(w, start, bytes), to = workload_device_alloc(w, bytes);
    for (int step = 0; step < N_STEPS; step++) {
        CUdeviceptr swap = from;
        workload_launch(w, kernel_of(w), grid, (void *[]){&from, &to, &n, &n, &n});
        from = to;
        to = swap;
    }
    workload_download(w, result, from, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 34, 64, 100);
    size_t side = (size_t)n, n_points = side * side * side;
    float *start = workload_array(&w, n_points, sizeof *start), *result = workload_array(&w, n_points, sizeof *result);
    for (size_t i = 0; i < n_points; i++)
        start[i] = (float)workload_random(&w) * 0x1p-24f;
    struct workload_grid grid = {((unsigned)n + TILE_X - 1) / TILE_X, ((unsigned)n + TILE_Y - 1) / TILE_Y, TILE_X,
                                 TILE_Y, 0};
    solve(&w, start, result, n, grid);

    struct workload_diff diff = {0};
    if (w.check) {
        float *expected = workload_array(&w, n_points, sizeof *expected);
        solve_reference(&w, start, expected, side);
        diff = workload_diff_f32(result, expected, n_points, 1e-6, 0.0);
        free(expected);
    }
    free(start);
    free(result);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d x %d points, %u x %u blocks of %u x %u threads", n, n,
                           n, grid.blocks_x, grid.blocks_y, grid.threads_x, grid.threads_y);
}
