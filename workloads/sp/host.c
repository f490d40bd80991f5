// sp: scalar products of pairs of vectors of floats.
//
// The reference adds in double precision. Elements lie in [0, 1), so a product of 4,096 elements is near 1,024 and its
// terms are positive: 4,096 / threads roundings of a partial sum and those of the tree stay below 1e-5 of the result.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "sp",
    .summary = "scalar products of pairs of vectors, one pair per block at a time",
    .sizes = {"24 pairs of 4,096 floats", "256 pairs of 4,096 floats", "256 pairs of 4,096 floats"},
};

enum { LENGTH = 4096, BLOCKS = 128, THREADS = 256 };

static void multiply_reference(const float *a, const float *b, float *product, size_t n_vectors) {
    for (size_t v = 0; v < n_vectors; v++) {
        double sum = 0;
        for (size_t i = v * LENGTH; i < (v + 1) * LENGTH; i++)
            sum += (double)a[i] * (double)b[i];
        product[v] = (float)sum;
    }
}

static float *make_vectors(struct workload *w, size_t n_vectors) {
    float *vectors = workload_array(w, n_vectors * LENGTH, sizeof *vectors);
    for (size_t i = 0; i < n_vectors * LENGTH; i++)
        vectors[i] = (float)workload_random(w) * 0x1p-24f;
    return vectors;
}

static void multiply(const struct workload *w, const float *a, const float *b, float *product, int n_vectors,
                     struct workload_grid grid) {
    size_t n = (size_t)n_vectors, bytes = n * LENGTH * sizeof(float);
    int length = LENGTH;
    CUdeviceptr device_a = workload_upload(w, a, bytes), device_b = workload_upload(w, b, bytes);
    CUdeviceptr device_product = workload_device_alloc(w, n * sizeof(float));
    workload_launch(w, "scalar_products", grid, (void *[]){&device_a, &device_b, &device_product, &n_vectors, &length});
    workload_download(w, product, device_product, n * sizeof(float));
    workload_device_free(w, device_a);
    workload_device_free(w, device_b);
    workload_device_free(w, device_product);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned n = workload_pick(&w, 24, 256, 256);
    unsigned threads = workload_shape(&w, LENGTH, THREADS).threads;
    unsigned blocks = w.blocks ? w.blocks : n < BLOCKS ? n : BLOCKS;
    float *a = make_vectors(&w, n), *b = make_vectors(&w, n);
    float *product = workload_array(&w, n, sizeof *product), *expected = workload_array(&w, n, sizeof *expected);
    multiply(&w, a, b, product, (int)n,
             (struct workload_grid){blocks, 1, threads, 1, threads * (unsigned)sizeof(float)});

    struct workload_diff diff = {0};
    if (w.check) {
        multiply_reference(a, b, expected, n);
        diff = workload_diff_f32(product, expected, n, 0, 1e-5);
    }
    free(a);
    free(b);
    free(product);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%u products of %d elements, %u blocks of %u threads", n, LENGTH,
                           blocks, threads);
}
