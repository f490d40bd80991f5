/*
 * Text helpers for messages and options. ASCII only, like all names in Heddle.
 */
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_NAME = 63 };

static unsigned min_unsigned(unsigned a, unsigned b) { return a < b ? a : b; }

static bool same_letter(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

unsigned base_edit_distance(const char *a, const char *b) {
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST_NAME || b_length > LONGEST_NAME)
        return strcmp(a, b) == 0 ? 0 : LONGEST_NAME + 1;

    /* Row i holds the distances from the first i letters of a to every prefix of b. Three rows are live at a time. */
    unsigned rows[3][LONGEST_NAME + 1];
    unsigned *before = rows[0], *above = rows[1], *row = rows[2];
    for (unsigned j = 0; j <= b_length; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned replaced = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = min_unsigned(replaced, min_unsigned(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = min_unsigned(row[j], before[j - 2] + 1);
        }
    }
    return row[b_length];
}

struct base_nearest base_nearest_to(const char *wanted) {
    /* Up to a third of the letters may be wrong, or one in names of two to five letters: 'bsf' finds 'bfs', but 'x'
     * does not find 'y'. */
    unsigned length = min_unsigned((unsigned)strlen(wanted), LONGEST_NAME);
    unsigned allowed = length < 2 ? 0 : length < 6 ? 1 : length / 3;
    return (struct base_nearest){.wanted = wanted, .best_distance = allowed + 1};
}

void base_nearest_offer(struct base_nearest *nearest, const char *name) {
    unsigned distance = base_edit_distance(nearest->wanted, name);
    if (distance < nearest->best_distance) {
        nearest->best = name;
        nearest->best_distance = distance;
    }
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    int letter = tolower((unsigned char)c);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

bool base_parse_u64(const char *text, uint64_t *value) {
    unsigned radix = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        radix = 16;
        text += 2;
    }
    if (*text == '\0')
        return false;
    uint64_t result = 0;
    for (; *text; text++) {
        unsigned digit = (unsigned)digit_value(*text);
        if (digit >= radix || __builtin_mul_overflow(result, radix, &result) ||
            __builtin_add_overflow(result, digit, &result))
            return false;
    }
    *value = result;
    return true;
}
