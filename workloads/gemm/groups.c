// gemm --code groups: the same product by producer and consumer warps. A and B are stored in tiles, B by columns.
#include "gemm.h"

#include <stdlib.h>

enum { TILE = 128, TILE_K = 64, THREADS = 384, STAGES = 4, PIECE = 8 };
enum { TILE_ELEMENTS = TILE * TILE_K, SHARED_BYTES = STAGES * 2 * TILE_ELEMENTS * 2 + 2 * STAGES * 8 };

// Returns the place of element x of a line of k elements: tiles of 128 lines by 64 elements, in which the pieces of
// eight elements are exchanged (common/groups.cuh).
static size_t place_of(size_t line, size_t x, size_t k) {
    size_t tile = line / TILE * (k / TILE_K) + x / TILE_K, piece = x % TILE_K / PIECE ^ line % 8;
    return tile * TILE_ELEMENTS + line % TILE * TILE_K + piece * PIECE + x % PIECE;
}

// Fills a matrix of n lines along k with numbers, and their encodings in tiles.
static void fill(struct workload *w, int8_t *value, uint16_t *half, size_t n, size_t k) {
    for (size_t i = 0; i < n; i++)
        for (size_t x = 0; x < k; x++) {
            value[i * k + x] = (int8_t)((int)workload_random_below(w, GEMM_VALUES) - GEMM_VALUES / 2);
            half[place_of(i, x, k)] = gemm_encode(value[i * k + x]);
        }
}

// Multiplies lines over whole numbers. B is stored by columns.
static void multiply_reference(const int8_t *a, const int8_t *b, float *c, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            int32_t sum = 0;
            for (size_t x = 0; x < n; x++)
                sum += a[i * n + x] * b[j * n + x];
            c[i * n + j] = (float)sum / (GEMM_STEPS * GEMM_STEPS);
        }
}

extern const char groups_ptx[];

int gemm_run_groups(struct workload *w) {
    int n = w->option[1].text ? (int)w->option[1].number : (int)workload_pick(w, 128, 512, 2048), n_steps = n / TILE_K;
    if (n % TILE)
        workload_usage_error(w, "--side is a multiple of %d with --code groups, not %d", TILE, n);
    size_t count = (size_t)n * (size_t)n;
    int8_t *a = workload_array(w, count, sizeof *a), *b = workload_array(w, count, sizeof *b);
    uint16_t *half = workload_array(w, count, sizeof *half);
    float *c = workload_array(w, count, sizeof *c), *expected = workload_array(w, count, sizeof *expected);

    workload_load(w, groups_ptx);
    fill(w, a, half, (size_t)n, (size_t)n);
    CUdeviceptr device_a = workload_upload(w, half, count * sizeof *half);
    fill(w, b, half, (size_t)n, (size_t)n);
    CUdeviceptr device_b = workload_upload(w, half, count * sizeof *half);
    CUdeviceptr device_c = workload_device_alloc(w, count * sizeof *c);
    unsigned side = (unsigned)n / TILE;
    workload_launch(w, "gemm_groups", (struct workload_grid){side, side, THREADS, 1, SHARED_BYTES},
                    (void *[]){&device_a, &device_b, &device_c, &n, &n_steps});
    workload_download(w, c, device_c, count * sizeof *c);

    struct workload_diff diff = {0};
    if (w->check) {
        multiply_reference(a, b, expected, (size_t)n);
        diff = workload_diff_f32(c, expected, count, 0.0, 0.0);
    }
    workload_device_free(w, device_a);
    workload_device_free(w, device_b);
    workload_device_free(w, device_c);
    free(a);
    free(b);
    free(half);
    free(c);
    free(expected);
    return workload_finish(w, w->check ? &diff : NULL, "%d x %d, k = %d, kernel gemm_groups", n, n, n);
}
