/* Small questions about strings: the nearest name, a strict number. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Which of some names did the user probably mean? Start with base_nearest_to, offer each name of whatever table there
 * is, and read `best`: NULL if none is close enough to be worth suggesting. The first of equally near names wins.
 */
struct base_nearest {
    const char *wanted;
    const char *best;
    unsigned best_distance;
};

struct base_nearest base_nearest_to(const char *wanted);
void base_nearest_offer(struct base_nearest *nearest, const char *name);

/* The number of single-character insertions, removals, replacements and swaps of neighbours between two texts,
 * ignoring case (optimal string alignment). Text beyond 63 characters counts as different. */
unsigned base_edit_distance(const char *a, const char *b);

/* The whole text as a decimal or 0x number: no sign, no blanks, nothing after it, and it fits. */
bool base_parse_u64(const char *text, uint64_t *value);
