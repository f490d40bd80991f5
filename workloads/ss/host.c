// ss: similarity scores of the first documents with all.
//
// The reference is in double precision. Scores are at most 1, sums have up to 128 products with relative errors of
// about 1e-7 each, so 1e-4 is wide.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

static const struct workload_info info = {
    .name = "ss",
    .summary = "similarity scores of the first documents with all, one pair per thread",
    .sizes = {"8 of 256 documents of 64 features", "32 of 1,024 documents of 64 features",
              "64 of 4,096 documents of 128 features"},
};

struct corpus {
    int n_first, n, dimensions;
    float *features;
};

// One feature in four is 0.
static struct corpus make_corpus(struct workload *w) {
    struct corpus c = {(int)workload_pick(w, 8, 32, 64), (int)workload_pick(w, 256, 1024, 4096),
                       (int)workload_pick(w, 64, 64, 128), NULL};
    size_t n_features = (size_t)c.n * (size_t)c.dimensions;
    c.features = workload_array(w, n_features, sizeof(float));
    for (size_t k = 0; k < n_features; k++)
        c.features[k] = workload_random_below(w, 4) ? (float)workload_random(w) * 0x1p-24f : 0.0f;
    return c;
}

static void compare(const struct workload *w, struct corpus *c, struct workload_shape shape, float *score) {
    size_t n = (size_t)c->n, score_bytes = (size_t)c->n_first * n * sizeof *score;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    CUdeviceptr features = workload_upload(w, c->features, n * (size_t)c->dimensions * sizeof(float));
    CUdeviceptr length = workload_device_alloc(w, n * sizeof(float));
    CUdeviceptr device_score = workload_device_alloc(w, score_bytes);
    workload_launch(w, "lengths", grid, (void *[]){&features, &length, &c->n, &c->dimensions});
    workload_launch(w, "similarity", grid,
                    (void *[]){&features, &length, &device_score, &c->n_first, &c->n, &c->dimensions});
    workload_download(w, score, device_score, score_bytes);
    workload_device_free(w, features);
    workload_device_free(w, length);
    workload_device_free(w, device_score);
}

static double dot(const struct corpus *c, int i, int j) {
    double sum = 0;
    for (int d = 0; d < c->dimensions; d++)
        sum += (double)c->features[i * c->dimensions + d] * (double)c->features[j * c->dimensions + d];
    return sum;
}

static void compare_reference(const struct corpus *c, float *score) {
    for (int i = 0; i < c->n_first; i++)
        for (int j = 0; j < c->n; j++)
            score[i * c->n + j] = (float)(dot(c, i, j) / sqrt(dot(c, i, i) * dot(c, j, j)));
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct corpus corpus = make_corpus(&w);
    size_t n_pairs = (size_t)corpus.n_first * (size_t)corpus.n;
    float *score = workload_array(&w, n_pairs, sizeof *score);
    float *expected = workload_array(&w, n_pairs, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, n_pairs, 256);
    compare(&w, &corpus, shape, score);

    struct workload_diff diff = {0};
    if (w.check) {
        compare_reference(&corpus, expected);
        diff = workload_diff_f32(score, expected, n_pairs, 1e-4, 0);
    }
    free(corpus.features);
    free(score);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d of %d documents of %d features, %u blocks of %u threads",
                           corpus.n_first, corpus.n, corpus.dimensions, shape.blocks, shape.threads);
}
