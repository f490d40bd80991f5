// gemm: the product of two matrices of half precision. Elements are multiples of 1/8 from -2 to 1.875, so that every
// partial sum is exact in a float, in any order, and the check can require equality.
#include "gemm.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 64, THREADS = 128 };

static const struct workload_info info = {
    .name = "gemm",
    .summary = "matrix product of half-precision matrices in tiles of 64 x 64, also with matrix instructions",
    .sizes = {"64 x 64, k = 64", "256 x 256, k = 256", "512 x 512, k = 512"},
    .blocks_fixed = "a block computes one tile",
    .threads_fixed = "a block has four warps",
    .options = {{"--code", "WHICH",
                 "plain (default); mma: with matrix instructions and asynchronous copies; groups: with wgmma, by "
                 "producer and consumer warps",
                 0, 0},
                {"--side", "N", "rows, columns and k of the matrices, a multiple of 64; with groups of 128", 64, 8192}},
};

static const char *kernel_of(const struct workload *w) {
    const char *code = w->option[0].text;
    if (!code || strcmp(code, "plain") == 0)
        return "gemm";
    if (strcmp(code, "mma") == 0)
        return "gemm_mma";
    workload_usage_error(w, "--code is plain, mma or groups, not '%s'", code);
}

// Returns the half-precision bits of value / 8, for a value from -16 to 15.
uint16_t gemm_encode(int value) {
    if (value == 0)
        return 0;
    unsigned magnitude = (unsigned)abs(value), exponent = 31u - (unsigned)__builtin_clz(magnitude);
    return (uint16_t)((value < 0 ? 0x8000u : 0) | (exponent + 15 - 3) << 10 | ((magnitude << (10 - exponent)) & 0x3ff));
}

// Fills a matrix with numbers and their encodings.
static void fill(struct workload *w, int8_t *value, uint16_t *half, size_t count) {
    for (size_t i = 0; i < count; i++) {
        value[i] = (int8_t)((int)workload_random_below(w, GEMM_VALUES) - GEMM_VALUES / 2);
        half[i] = gemm_encode(value[i]);
    }
}

// Multiplies row by row over whole numbers, without tiles.
static void multiply_reference(const int8_t *a, const int8_t *b, float *c, size_t n) {
    int32_t *sum = calloc(n, sizeof *sum);
    if (!sum)
        abort();
    for (size_t i = 0; i < n; i++) {
        memset(sum, 0, n * sizeof *sum);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                sum[j] += a[i * n + k] * b[k * n + j];
        for (size_t j = 0; j < n; j++)
            c[i * n + j] = (float)sum[j] / (GEMM_STEPS * GEMM_STEPS);
    }
    free(sum);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    if (w.option[0].text && strcmp(w.option[0].text, "groups") == 0)
        return gemm_run_groups(&w);
    const char *kernel = kernel_of(&w);
    int n = w.option[1].text ? (int)w.option[1].number : (int)workload_pick(&w, 64, 256, 512);
    if (n % TILE)
        workload_usage_error(&w, "--side is a multiple of 64, not %d", n);
    size_t count = (size_t)n * (size_t)n;
    int8_t *a = workload_array(&w, count, sizeof *a), *b = workload_array(&w, count, sizeof *b);
    uint16_t *half = workload_array(&w, count, sizeof *half);
    float *c = workload_array(&w, count, sizeof *c), *expected = workload_array(&w, count, sizeof *expected);

    fill(&w, a, half, count);
    CUdeviceptr device_a = workload_upload(&w, half, count * sizeof *half);
    fill(&w, b, half, count);
    CUdeviceptr device_b = workload_upload(&w, half, count * sizeof *half);
    CUdeviceptr device_c = workload_device_alloc(&w, count * sizeof *c);
    unsigned side = (unsigned)n / TILE;
    workload_launch(&w, kernel, (struct workload_grid){side, side, THREADS, 1, 0},
                    (void *[]){&device_a, &device_b, &device_c, &n, &n});
    workload_download(&w, c, device_c, count * sizeof *c);

    struct workload_diff diff = {0};
    if (w.check) {
        multiply_reference(a, b, expected, (size_t)n);
        diff = workload_diff_f32(c, expected, count, 0.0, 0.0);
    }
    workload_device_free(&w, device_a);
    workload_device_free(&w, device_b);
    workload_device_free(&w, device_c);
    free(a);
    free(b);
    free(half);
    free(c);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d, k = %d, kernel %s", n, n, n, kernel);
}
