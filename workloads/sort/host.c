// sort: bucket sort of ints. The reference is the C library's qsort().
#include "../common/workload.h"

#include <stdlib.h>

enum { SMALL_BUCKETS = 128, CAPACITY = 1536 }; // as in kernel.cu
enum { FAN_BITS = 5, MEAN_SMALL = 8, CAPACITY_SMALL = CAPACITY / SMALL_BUCKETS, KEY_BITS = 32 };
enum { SMALL_OPTION = 0 };
// Tiles are large, so that a block writes long runs, but there are a few even at small sizes.
enum { THREADS = 128, SCATTER_THREADS = 384, KEYS_PER_THREAD = 32, LEAST_TILES = 8, KEYS_PER_COUNTER = 128 };

static const struct workload_info info = {
    .name = "sort",
    .summary = "bucket sort; the last level is in shared memory, one thread a small bucket",
    .sizes = {"8,192 ints", "131,072 ints", "1,048,576 ints"},
    .options = {[SMALL_OPTION] = {"--small-buckets", "N", "in a bucket, a power of two; default 128", 32, 1024}},
};

static int compare_ints(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

// Device memory and the numbers that every kernel needs. There are 2^bucket_bits buckets.
struct sorting {
    const struct workload *w;
    unsigned threads;
    int n, n_buckets, bucket_bits, n_small, small_bits;
    CUdeviceptr keys, spare, counts, starts, next, next_coarse;
};

static unsigned words(unsigned n) { return n * (unsigned)sizeof(uint32_t); }

static void place_buckets(struct sorting *s) {
    unsigned n_buckets = (unsigned)s->n_buckets;
    struct workload_shape shape = workload_shape(s->w, (size_t)(s->n / KEYS_PER_COUNTER), THREADS);
    int shift = KEY_BITS - s->bucket_bits;
    WORKLOAD_CUDA(s->w, cuMemsetD8(s->counts, 0, words(n_buckets)));
    workload_launch(s->w, "count_keys", (struct workload_grid){shape.blocks, 1, s->threads, 1, words(n_buckets)},
                    (void *[]){&s->keys, &s->n, &s->counts, &s->n_buckets, &shift});
    workload_launch(s->w, "place_buckets", (struct workload_grid){1, 1, s->threads, 1, words(n_buckets + s->threads)},
                    (void *[]){&s->counts, &s->starts, &s->next, &s->next_coarse, &s->n_buckets, &s->n});
}

// Returns the number of keys that fit into shared memory besides `other_words`, up to a limit.
static unsigned choose_tile(const struct sorting *s, unsigned threads, unsigned other_words) {
    unsigned room = workload_most_shared_bytes(s->w) / (unsigned)sizeof(uint32_t), most = (unsigned)s->n / LEAST_TILES;
    if (room <= other_words)
        workload_usage_error(
            s->w, "%u threads need %u bytes of shared memory per block and more for keys, this device has %u", threads,
            words(other_words), words(room));
    unsigned tile = room - other_words;
    if (tile > KEYS_PER_THREAD * threads)
        tile = KEYS_PER_THREAD * threads;
    return tile < most ? tile : most;
}

// Moves the keys to the buckets of their upper `bits` bits; next[b] is the start of bucket b.
static void scatter(struct sorting *s, int bits, CUdeviceptr next) {
    int n_buckets = 1 << bits, shift = KEY_BITS - bits;
    unsigned threads = workload_shape(s->w, 1, SCATTER_THREADS).threads, other = threads + 2 * (unsigned)n_buckets;
    unsigned tile = choose_tile(s, threads, other), enough = ((unsigned)s->n + tile - 1) / tile;
    CUdeviceptr from = s->keys, to = s->spare;
    workload_launch(s->w, "scatter_keys",
                    (struct workload_grid){s->w->blocks ? s->w->blocks : enough, 1, threads, 1, words(tile + other)},
                    (void *[]){&from, &s->n, &to, &next, &n_buckets, &shift, &tile});
    s->keys = to;
    s->spare = from;
}

// Uniform keys never fill a bucket; the kernel relies on it.
static void check_capacity(const struct sorting *s) {
    size_t count = (size_t)s->n_buckets;
    uint32_t *counts = workload_array(s->w, count, sizeof *counts);
    workload_download(s->w, counts, s->counts, count * sizeof *counts);
    for (size_t b = 0; b < count; b++)
        if (counts[b] > (unsigned)(s->n_small * CAPACITY_SMALL))
            workload_fail(s->w, "bucket %zu has %u keys and room for %d", b, counts[b], s->n_small * CAPACITY_SMALL);
    free(counts);
}

static void sort_buckets(struct sorting *s) {
    int shift = KEY_BITS - s->bucket_bits - s->small_bits, capacity = s->n_small * CAPACITY_SMALL;
    unsigned n_words = (unsigned)(capacity + s->n_small) + s->threads;
    struct workload_grid grid = {s->w->blocks ? s->w->blocks : (unsigned)s->n_buckets, 1, s->threads, 1,
                                 words(n_words)};
    if (s->n_small == SMALL_BUCKETS)
        workload_launch(s->w, "sort_buckets", grid, (void *[]){&s->keys, &s->starts, &s->n_buckets, &shift});
    else
        workload_launch(s->w, "sort_large_buckets", grid,
                        (void *[]){&s->keys, &s->starts, &s->n_buckets, &shift, &s->n_small, &capacity});
}

static unsigned sort(const struct workload *w, int *data, int n) {
    struct sorting s = {.w = w, .threads = workload_shape(w, 1, THREADS).threads, .n = n, .n_buckets = 1};
    s.n_small = w->option[SMALL_OPTION].text ? (int)w->option[SMALL_OPTION].number : SMALL_BUCKETS;
    if (s.n_small & (s.n_small - 1))
        workload_usage_error(w, "--small-buckets takes a power of two, not %d", s.n_small);
    for (; 1 << s.small_bits < s.n_small;)
        s.small_bits++;
    for (; s.n_buckets * MEAN_SMALL * s.n_small < n; s.n_buckets *= 2)
        s.bucket_bits++;
    size_t bytes = (size_t)n * sizeof(int), bucket_bytes = (size_t)s.n_buckets * sizeof(uint32_t);
    s.keys = workload_upload(w, data, bytes);
    s.spare = workload_device_alloc(w, bytes);
    s.counts = workload_device_alloc(w, bucket_bytes);
    s.starts = workload_device_alloc(w, bucket_bytes + sizeof(uint32_t));
    s.next = workload_device_alloc(w, bucket_bytes);
    s.next_coarse = workload_device_alloc(w, bucket_bytes);
    place_buckets(&s);
    check_capacity(&s);
    if (s.bucket_bits > FAN_BITS)
        scatter(&s, s.bucket_bits - FAN_BITS, s.next_coarse);
    scatter(&s, s.bucket_bits, s.next);
    sort_buckets(&s);
    workload_download(w, data, s.keys, bytes);
    CUdeviceptr all[] = {s.keys, s.spare, s.counts, s.starts, s.next, s.next_coarse};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
    return (unsigned)s.n_buckets;
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
    unsigned n_buckets = sort(&w, data, (int)n);

    struct workload_diff diff = {0};
    if (w.check) {
        qsort(expected, n, sizeof *expected, compare_ints);
        diff = workload_diff_i32(data, expected, n);
    }
    free(data);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu ints, %u buckets", n, n_buckets);
}
