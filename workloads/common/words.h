// Random text, for ii and wc: words of small letters, some of them frequent.
#pragma once

#include "workload.h"

enum { WORDS_LONGEST = 10 };

// Words in alphabetical order. No two have the same hash, and no hash is 0.
struct words {
    int n;
    char (*word)[WORDS_LONGEST + 1];
    int *by_rank; // numbers of the words, the most frequent first
};

struct words words_make(struct workload *w, int n);
void words_free(struct words *words);

// Fowler, Noll and Vo's hash, 32 bits (FNV-1a), as in words.cuh.
uint32_t words_hash(const char *word, size_t length);

// Fills a text with words and one space after each, and ends it with a 0; `bytes` counts that 0 as well. Two random
// numbers choose a word, and the product makes low ranks frequent.
void words_fill(struct workload *w, const struct words *words, char *text, size_t bytes);

// Finds the next word at or after *at, compares letters with the list, and moves *at behind it. -1: no word is left.
int words_next(const struct words *words, const char *text, size_t *at);
