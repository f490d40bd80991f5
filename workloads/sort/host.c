// sort: bucket sort of ints; the reference is the C library's qsort().
#include "../common/workload.h"

#include <stdlib.h>

enum { CAPACITY = 1536, SMALL_BUCKETS = 128, SMALL_BITS = 7, KEYS_A_THREAD = 8 }; // as in kernel.cu
enum { MEAN_BUCKET = 1024, KEY_BITS = 32 };

static const struct workload_info info = {
    .name = "sort",
    .summary = "bucket sort in two levels, the second in shared memory with one thread a small bucket",
    .sizes = {"8,192 ints", "131,072 ints", "1,048,576 ints"},
};

static int compare_ints(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

// Device memory and the numbers that every kernel needs. There are 2^bucket_bits buckets.
struct sorting {
    const struct workload *w;
    struct workload_shape shape;
    int n, n_buckets, bucket_bits;
    CUdeviceptr keys, out, counts, starts, next;
};

static void share_out(struct sorting *s) {
    unsigned bucket_bytes = (unsigned)s->n_buckets * (unsigned)sizeof(uint32_t);
    unsigned scan_bytes = bucket_bytes + s->shape.threads * (unsigned)sizeof(uint32_t);
    int shift = KEY_BITS - s->bucket_bits;
    struct workload_grid grid = {s->shape.blocks, 1, s->shape.threads, 1, bucket_bytes};
    WORKLOAD_CUDA(s->w, cuMemsetD8(s->counts, 0, bucket_bytes));
    workload_launch(s->w, "count_keys", grid, (void *[]){&s->keys, &s->n, &s->counts, &s->n_buckets, &shift});
    workload_launch(s->w, "place_buckets", (struct workload_grid){1, 1, s->shape.threads, 1, scan_bytes},
                    (void *[]){&s->counts, &s->starts, &s->next, &s->n_buckets, &s->n});
    workload_launch(s->w, "scatter_keys", grid, (void *[]){&s->keys, &s->n, &s->out, &s->next, &s->n_buckets, &shift});
}

// Uniform keys never fill a bucket; the kernel relies on it.
static void check_capacity(const struct sorting *s) {
    size_t count = (size_t)s->n_buckets;
    uint32_t *counts = workload_array(s->w, count, sizeof *counts);
    workload_download(s->w, counts, s->counts, count * sizeof *counts);
    for (size_t b = 0; b < count; b++)
        if (counts[b] > CAPACITY)
            workload_fail(s->w, "bucket %zu has %u keys and room for %d", b, counts[b], CAPACITY);
    free(counts);
}

static void sort_buckets(struct sorting *s) {
    int shift = KEY_BITS - s->bucket_bits - SMALL_BITS;
    unsigned words = 2 * CAPACITY + SMALL_BUCKETS + s->shape.threads;
    unsigned blocks = s->w->blocks ? s->w->blocks : (unsigned)s->n_buckets;
    workload_launch(s->w, "sort_buckets",
                    (struct workload_grid){blocks, 1, s->shape.threads, 1, words * (unsigned)sizeof(uint32_t)},
                    (void *[]){&s->out, &s->starts, &s->n_buckets, &shift});
}

static struct workload_shape sort(const struct workload *w, int *data, int n) {
    struct sorting s = {.w = w, .n = n, .n_buckets = 1};
    for (; s.n_buckets * MEAN_BUCKET < n; s.n_buckets *= 2)
        s.bucket_bits++;
    size_t bytes = (size_t)n * sizeof(int), bucket_bytes = (size_t)s.n_buckets * sizeof(uint32_t);
    s.shape = workload_shape(w, ((size_t)n + KEYS_A_THREAD - 1) / KEYS_A_THREAD, 128);
    s.keys = workload_upload(w, data, bytes);
    s.out = workload_device_alloc(w, bytes);
    s.counts = workload_device_alloc(w, bucket_bytes);
    s.starts = workload_device_alloc(w, bucket_bytes + sizeof(uint32_t));
    s.next = workload_device_alloc(w, bucket_bytes);
    share_out(&s);
    check_capacity(&s);
    sort_buckets(&s);
    workload_download(w, data, s.out, bytes);
    CUdeviceptr all[] = {s.keys, s.out, s.counts, s.starts, s.next};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
    return s.shape;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 1 << 13, 1 << 17, 1 << 20);
    int *data = workload_array(&w, n, sizeof *data), *expected = workload_array(&w, n, sizeof *expected);
    for (size_t i = 0; i < n; i++) {
        uint32_t high = workload_random(&w), low = workload_random(&w);
        expected[i] = data[i] = (int)(high << 8 ^ low); // covers the whole range of an int
    }
    struct workload_shape shape = sort(&w, data, (int)n);

    struct workload_diff diff = {0};
    if (w.check) {
        qsort(expected, n, sizeof *expected, compare_ints);
        diff = workload_diff_i32(data, expected, n);
    }
    free(data);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu ints, %u blocks of %u threads", n, shape.blocks,
                           shape.threads);
}
