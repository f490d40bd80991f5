/* Lists of values in kernel tests: `1 2 3`, ranges `0..31` and `31..0`, repeats `7*32` and `(0 1)*16`, `_` for any
 * value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "values.h"

struct value_list {
    struct value *value;
    size_t length, room;
};

/* Appends the values of [text, end). Returns false when a word is not a value; *bad then points to it. */
bool value_list_parse(struct value_list *list, const struct value_type *type, const char *text, const char *end,
                      const char **bad);
void value_list_free(struct value_list *list);
