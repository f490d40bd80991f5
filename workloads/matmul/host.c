// matmul: the product of two square matrices. Elements are whole numbers from 0 to 7, so that every partial sum is
// exact in a float and the check can require equality.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 16 };

static const struct workload_info info = {
    .name = "matmul",
    .summary = "matrix product with 16 x 16 tiles in shared memory",
    .sizes = {"64 x 64 floats", "256 x 256 floats", "256 x 256 ints"},
    .threads_fixed = "a block is one tile of 16 x 16 threads",
    .options = {{"--code", "tiles|plain", "tiles in shared memory, or no shared memory, as Narasiman's machines", 0,
                 0}},
};

// Returns the four-byte encoding of a small whole number in the size's element type.
static uint32_t encode(bool is_int, uint32_t value) {
    float as_float = (float)value;
    uint32_t bits = value;
    if (!is_int)
        memcpy(&bits, &as_float, sizeof bits);
    return bits;
}

// Multiplies row by row over whole numbers, without tiles.
static void multiply_reference(const uint32_t *a, const uint32_t *b, uint32_t *c, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static bool is_plain(const struct workload *w) {
    const char *code = w->option[0].text;
    if (code && strcmp(code, "tiles") != 0 && strcmp(code, "plain") != 0)
        workload_usage_error(w, "--code takes tiles or plain, not '%s'", code);
    return code && strcmp(code, "plain") == 0;
}

static const char *launch(const struct workload *w, int n, bool is_int, void **arguments) {
    unsigned side = (unsigned)n / TILE;
    bool has_tiles = !is_plain(w), covers = has_tiles && (!w->blocks || w->blocks >= side * side);
    unsigned blocks = w->blocks ? w->blocks : side * side;
    struct workload_grid grid = {covers ? side : blocks, covers ? side : 1, TILE, TILE, 0};
    const char *whole = is_int ? "matmul_int" : "matmul", *part = is_int ? "matmul_int_strided" : "matmul_strided";
    const char *plain = is_int ? "matmul_int_plain" : "matmul_plain", *kernel = covers ? whole : part;
    if (!has_tiles)
        kernel = plain;
    workload_launch(w, kernel, grid, arguments);
    return kernel;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 64, 256, 256);
    bool is_int = w.size == WORKLOAD_PAPER;
    size_t count = (size_t)n * (size_t)n, bytes = count * sizeof(uint32_t);
    uint32_t *a = workload_array(&w, count, sizeof *a), *b = workload_array(&w, count, sizeof *b);
    uint32_t *c = workload_array(&w, count, sizeof *c), *encoded = workload_array(&w, count, sizeof *encoded);
    for (size_t i = 0; i < count; i++) {
        a[i] = workload_random(&w) & 7;
        b[i] = workload_random(&w) & 7;
    }

    for (size_t i = 0; i < count; i++)
        encoded[i] = encode(is_int, a[i]);
    CUdeviceptr device_a = workload_upload(&w, encoded, bytes);
    for (size_t i = 0; i < count; i++)
        encoded[i] = encode(is_int, b[i]);
    CUdeviceptr device_b = workload_upload(&w, encoded, bytes);
    CUdeviceptr device_c = workload_device_alloc(&w, bytes);
    const char *kernel = launch(&w, n, is_int, (void *[]){&device_a, &device_b, &device_c, &n});
    workload_download(&w, encoded, device_c, bytes);

    struct workload_diff diff = {0};
    if (w.check) {
        multiply_reference(a, b, c, (size_t)n);
        for (size_t i = 0; i < count; i++)
            c[i] = encode(is_int, c[i]);
        if (is_int)
            diff = workload_diff_u32(encoded, c, count);
        else
            diff = workload_diff_f32((const float *)(const void *)encoded, (const float *)(const void *)c, count, 0.0,
                                     0.0);
    }
    workload_device_free(&w, device_a);
    workload_device_free(&w, device_b);
    workload_device_free(&w, device_c);
    free(a);
    free(b);
    free(c);
    free(encoded);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d %s, kernel %s", n, n, is_int ? "ints" : "floats",
                           kernel);
}
