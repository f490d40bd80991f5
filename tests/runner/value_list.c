/* Lists of values in kernel tests. */
#include "value_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { MAX_VALUES = 1 << 24 };

struct reader {
    struct value_list *list;
    const struct value_type *type;
    const char *at, *end;
};

static bool append(struct value_list *list, const struct value *value) {
    if (list->length == MAX_VALUES)
        return false;
    if (list->length == list->room) {
        list->room = 2 * list->room + 64;
        list->value = text_resize(list->value, list->room * sizeof *list->value);
    }
    list->value[list->length++] = *value;
    return true;
}

static void skip_blanks(struct reader *reader) {
    while (reader->at < reader->end && isspace((unsigned char)*reader->at))
        reader->at++;
}

/* After a value or a group: *N repeats the values from `first` on N times. */
static bool read_repeat(struct reader *reader, size_t first) {
    if (reader->at == reader->end || *reader->at != '*')
        return true;
    char *after;
    unsigned long times = strtoul(reader->at + 1, &after, 10);
    size_t n = reader->list->length - first;
    if (after == reader->at + 1 || times == 0)
        return false;
    reader->at = after;
    for (unsigned long k = 1; k < times; k++)
        for (size_t i = 0; i < n; i++) {
            struct value copy = reader->list->value[first + i];
            if (!append(reader->list, &copy))
                return false;
        }
    return true;
}

static bool append_range(struct reader *reader, long long first, long long last) {
    for (long long i = first;; i += first < last ? 1 : -1) {
        char number[32];
        struct value value;
        snprintf(number, sizeof number, "%lld", i);
        if (!value_parse(reader->type, number, strlen(number), &value) || !append(reader->list, &value))
            return false;
        if (i == last)
            return true;
    }
}

/* A value or a range. */
static bool read_word(struct reader *reader) {
    const char *word = reader->at;
    while (reader->at < reader->end && !isspace((unsigned char)*reader->at) && !strchr("()*", *reader->at))
        reader->at++;
    size_t length = (size_t)(reader->at - word);
    char copy[VALUE_TEXT], *end;
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, word, length);
    copy[length] = 0;
    char *dots = strstr(copy, "..");
    if (dots) {
        long long first = strtoll(copy, &end, 0);
        if (end != dots || dots == copy || !dots[2])
            return false;
        long long last = strtoll(dots + 2, &end, 0);
        return *end == 0 && append_range(reader, first, last);
    }
    struct value value;
    return value_parse(reader->type, word, length, &value) && append(reader->list, &value);
}

/* Items up to the end or the parenthesis that closes the group. */
static bool read_items(struct reader *reader, bool is_group) {
    for (;;) {
        skip_blanks(reader);
        if (reader->at == reader->end)
            return !is_group;
        if (*reader->at == ')') {
            reader->at += is_group;
            return is_group;
        }
        size_t first = reader->list->length;
        const char *item = reader->at;
        bool is_good;
        if (*reader->at == '(') {
            reader->at++;
            is_good = read_items(reader, true);
        } else {
            is_good = read_word(reader);
        }
        if (!is_good || !read_repeat(reader, first)) {
            reader->at = item;
            return false;
        }
    }
}

bool value_list_parse(struct value_list *list, const struct value_type *type, const char *text, const char *end,
                      const char **bad) {
    struct reader reader = {list, type, text, end};
    bool is_good = read_items(&reader, false);
    *bad = reader.at;
    return is_good;
}

void value_list_free(struct value_list *list) {
    free(list->value);
    *list = (struct value_list){0};
}
