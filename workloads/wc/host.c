// wc: how often each word occurs in a text.
//
// The table's slots depend on which thread meets a word first. The reference finds words by their letters, so the check
// looks each word's hash up in the table and compares the counts. No two words have the same hash.
#include "../common/words.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "wc",
    .summary = "word count: one stretch of a text per thread, counts in a hash table",
    .sizes = {"64 KB, 1,024 words", "1 MB, 1,024 words", "16 MB, 1,024 words"},
};

enum { N_WORDS = 1024, LOG_SLOTS = 12, N_SLOTS = 1 << LOG_SLOTS, STRETCH = 128 };

struct table {
    uint32_t *keys, *counts;
};

static void count_words(const struct workload *w, const char *text, size_t bytes, struct workload_shape shape,
                        struct table *table) {
    unsigned shift = 32 - LOG_SLOTS;
    int n_stretches = (int)((bytes + STRETCH - 1) / STRETCH), stretch = STRETCH, n_bytes = (int)bytes;
    CUdeviceptr device_text = workload_upload(w, text, bytes);
    CUdeviceptr keys = workload_upload(w, table->keys, N_SLOTS * sizeof(uint32_t));
    CUdeviceptr counts = workload_upload(w, table->counts, N_SLOTS * sizeof(uint32_t));
    workload_launch(w, "wc", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&device_text, &keys, &counts, &shift, &n_stretches, &stretch, &n_bytes});
    workload_download(w, table->keys, keys, N_SLOTS * sizeof(uint32_t));
    workload_download(w, table->counts, counts, N_SLOTS * sizeof(uint32_t));
    workload_device_free(w, device_text);
    workload_device_free(w, keys);
    workload_device_free(w, counts);
}

static void read_counts(const struct words *words, const struct table *table, uint32_t *count) {
    for (int k = 0; k < words->n; k++) {
        size_t length = 0;
        while (words->word[k][length])
            length++;
        uint32_t hash = words_hash(words->word[k], length);
        for (int slot = 0; slot < N_SLOTS; slot++)
            if (table->keys[slot] == hash)
                count[k] += table->counts[slot];
    }
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t bytes = workload_pick(&w, 1 << 16, 1 << 20, 1 << 24);
    struct words words = words_make(&w, N_WORDS);
    char *text = workload_array(&w, bytes, 1);
    words_fill(&w, &words, text, bytes);
    struct table table = {workload_array(&w, N_SLOTS, sizeof(uint32_t)), workload_array(&w, N_SLOTS, sizeof(uint32_t))};
    uint32_t *count = workload_array(&w, N_WORDS, sizeof *count);
    uint32_t *expected = workload_array(&w, N_WORDS, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, (bytes + STRETCH - 1) / STRETCH, 256);
    count_words(&w, text, bytes, shape, &table);

    struct workload_diff diff = {0};
    if (w.check) {
        read_counts(&words, &table, count);
        size_t at = 0;
        for (int word; (word = words_next(&words, text, &at)) >= 0;)
            expected[word]++;
        diff = workload_diff_u32(count, expected, N_WORDS);
    }
    free(text);
    free(table.keys);
    free(table.counts);
    free(count);
    free(expected);
    words_free(&words);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu bytes, %d words, %u blocks of %u threads", bytes, N_WORDS,
                           shape.blocks, shape.threads);
}
