// Random text; see words.h.
#include "words.h"

#include <stdlib.h>
#include <string.h>

uint32_t words_hash(const char *word, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)word[i]) * 16777619u;
    return hash;
}

static int compare_words(const void *a, const void *b) { return strcmp(a, b); }

static bool has_hash(const uint32_t *hashes, int n, uint32_t hash) {
    for (int i = 0; i < n; i++)
        if (hashes[i] == hash)
            return true;
    return hash == 0;
}

// Two words of the same letters have the same hash, so words are distinct too.
static void draw_words(struct workload *w, struct words *words) {
    uint32_t *hashes = workload_array(w, (size_t)words->n, sizeof *hashes);
    for (int k = 0; k < words->n;) {
        size_t length = 2 + workload_random_below(w, WORDS_LONGEST - 1);
        for (size_t i = 0; i < length; i++)
            words->word[k][i] = (char)('a' + workload_random_below(w, 26));
        words->word[k][length] = 0;
        hashes[k] = words_hash(words->word[k], length);
        if (!has_hash(hashes, k, hashes[k]))
            k++;
    }
    free(hashes);
}

struct words words_make(struct workload *w, int n) {
    struct words words = {n, workload_array(w, (size_t)n, sizeof *words.word),
                          workload_array(w, (size_t)n, sizeof *words.by_rank)};
    draw_words(w, &words);
    qsort(words.word, (size_t)n, sizeof *words.word, compare_words);
    for (int k = 0; k < n; k++) { // an even permutation of the words
        int other = (int)workload_random_below(w, (uint32_t)k + 1);
        words.by_rank[k] = words.by_rank[other];
        words.by_rank[other] = k;
    }
    return words;
}

void words_free(struct words *words) {
    free(words->word);
    free(words->by_rank);
}

static const char *draw_word(struct workload *w, const struct words *words) {
    uint64_t product = (uint64_t)workload_random(w) * workload_random(w) >> 24;
    return words->word[words->by_rank[product * (uint64_t)words->n >> 24]];
}

void words_fill(struct workload *w, const struct words *words, char *text, size_t bytes) {
    size_t at = 0;
    while (at < bytes - 1) {
        const char *word = draw_word(w, words);
        size_t length = strlen(word), room = bytes - 1 - at;
        if (length > room) { // too short for this word
            memset(text + at, ' ', room);
            break;
        }
        memcpy(text + at, word, length);
        at += length;
        if (at < bytes - 1)
            text[at++] = ' ';
    }
    text[bytes - 1] = 0;
}

int words_next(const struct words *words, const char *text, size_t *at) {
    size_t start = *at + strspn(text + *at, " "), length = strcspn(text + start, " ");
    char key[WORDS_LONGEST + 1];
    *at = start + length;
    if (length == 0 || length > WORDS_LONGEST)
        return -1;
    memcpy(key, text + start, length);
    key[length] = 0;
    const char(*found)[WORDS_LONGEST + 1] =
        bsearch(key, words->word, (size_t)words->n, sizeof *words->word, compare_words);
    return found ? (int)(found - (const char(*)[WORDS_LONGEST + 1]) words->word) : -1;
}
