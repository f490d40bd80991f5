/* Text helpers: the nearest name, edit distance, strict numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the name that the user probably meant. Start with base_nearest_to, offer each name of a table, and read `best`:
 * NULL if no name is close enough to suggest. The first of equally near names wins.
 */
struct base_nearest {
    const char *wanted;
    const char *best;
    unsigned best_distance;
};

struct base_nearest base_nearest_to(const char *wanted);
void base_nearest_offer(struct base_nearest *nearest, const char *name);

/* Counts the single-character insertions, removals, replacements and swaps of neighbours between two texts, ignoring
 * case (optimal string alignment). For a text above 63 characters the result is 0 (equal) or 64. */
unsigned base_edit_distance(const char *a, const char *b);

/* Reads the whole text as a decimal or 0x number. Returns false for a sign, blanks, trailing text or overflow. */
bool base_parse_u64(const char *text, uint64_t *value);
