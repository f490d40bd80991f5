// ii: an inverted index of random documents: the documents in which each term occurs.
//
// The reference finds words by their letters, the kernel by their hash. Both set bits, so the check asks for equality.
#include "../common/words.h"

#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "ii",
    .summary = "inverted index: the documents in which each term occurs, one document per thread",
    .sizes = {"768 documents", "12,288 documents", "131,072 documents"},
};

// The most frequent words are no terms.
enum { N_WORDS = 1024, N_COMMON = 32, LOG_SLOTS = 12, N_SLOTS = 1 << LOG_SLOTS };
enum { SHORTEST = 32, LONGEST = 159 }; // bytes of a document, with its 0

struct documents {
    int n;
    char *text;
    int *start;
};

static struct documents make_documents(struct workload *w, const struct words *words, int n) {
    struct documents d = {n, NULL, workload_array(w, (size_t)n + 1, sizeof(int))};
    for (int i = 0; i < n; i++)
        d.start[i + 1] = d.start[i] + SHORTEST + (int)workload_random_below(w, LONGEST - SHORTEST + 1);
    d.text = workload_array(w, (size_t)d.start[n], 1);
    for (int i = 0; i < n; i++)
        words_fill(w, words, d.text + d.start[i], (size_t)(d.start[i + 1] - d.start[i]));
    return d;
}

// The dictionary, a table of open addressing: key 0 is an empty slot. term_of[k]: the number of word k, or -1.
struct dictionary {
    int n_terms;
    uint32_t *keys;
    int *terms, *term_of;
};

static struct dictionary make_dictionary(const struct workload *w, const struct words *words) {
    struct dictionary d = {0, workload_array(w, N_SLOTS, sizeof(uint32_t)), workload_array(w, N_SLOTS, sizeof(int)),
                           workload_array(w, N_WORDS, sizeof(int))};
    for (int rank = 0; rank < N_WORDS; rank++) {
        int word = words->by_rank[rank];
        d.term_of[word] = -1;
        if (rank < N_COMMON)
            continue;
        uint32_t hash = words_hash(words->word[word], strlen(words->word[word])), slot = hash >> (32 - LOG_SLOTS);
        while (d.keys[slot])
            slot = (slot + 1) % N_SLOTS;
        d.keys[slot] = hash;
        d.terms[slot] = d.term_of[word] = d.n_terms++;
    }
    return d;
}

static void index_documents(const struct workload *w, const struct documents *d, const struct dictionary *dictionary,
                            struct workload_shape shape, uint32_t *index, size_t index_bytes) {
    unsigned shift = 32 - LOG_SLOTS;
    int n = d->n;
    CUdeviceptr text = workload_upload(w, d->text, (size_t)d->start[n]);
    CUdeviceptr start = workload_upload(w, d->start, ((size_t)n + 1) * sizeof(int));
    CUdeviceptr keys = workload_upload(w, dictionary->keys, N_SLOTS * sizeof(uint32_t));
    CUdeviceptr terms = workload_upload(w, dictionary->terms, N_SLOTS * sizeof(int));
    CUdeviceptr device_index = workload_device_alloc(w, index_bytes);
    WORKLOAD_CUDA(w, cuMemsetD8(device_index, 0, index_bytes));
    workload_launch(w, "ii", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&text, &start, &keys, &terms, &shift, &device_index, &n});
    workload_download(w, index, device_index, index_bytes);
    CUdeviceptr all[] = {text, start, keys, terms, device_index};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
}

static void index_reference(const struct documents *d, const struct words *words, const struct dictionary *dictionary,
                            uint32_t *index) {
    size_t row_words = ((size_t)d->n + 31) / 32;
    for (int i = 0; i < d->n; i++) {
        size_t at = 0;
        for (int word; (word = words_next(words, d->text + d->start[i], &at)) >= 0;)
            if (dictionary->term_of[word] >= 0)
                index[(size_t)dictionary->term_of[word] * row_words + (size_t)i / 32] |= 1u << i % 32;
    }
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 768, 12288, 131072);
    struct words words = words_make(&w, N_WORDS);
    struct documents documents = make_documents(&w, &words, n);
    struct dictionary dictionary = make_dictionary(&w, &words);
    size_t n_index = (size_t)dictionary.n_terms * (((size_t)n + 31) / 32), n_bytes = (size_t)documents.start[n];
    uint32_t *index = workload_array(&w, n_index, sizeof *index);
    uint32_t *expected = workload_array(&w, n_index, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    index_documents(&w, &documents, &dictionary, shape, index, n_index * sizeof *index);

    struct workload_diff diff = {0};
    if (w.check) {
        index_reference(&documents, &words, &dictionary, expected);
        diff = workload_diff_u32(index, expected, n_index);
    }
    free(documents.text);
    free(documents.start);
    free(dictionary.keys);
    free(dictionary.terms);
    free(dictionary.term_of);
    free(index);
    free(expected);
    words_free(&words);
    return workload_finish(&w, w.check ? &diff : NULL, "%d documents, %zu bytes, %d terms, %u blocks of %u threads", n,
                           n_bytes, dictionary.n_terms, shape.blocks, shape.threads);
}
