/* The instructions that tests mention. */
#include "mentions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "values.h"

enum { MAX_PARTS = 12 };

struct part {
    const char *text;
    size_t length;
};

static int compare_parts(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, shorter);
    return order ? order : (int)x->length - (int)y->length;
}

bool mentions_key(const char *mnemonic, size_t length, char key[MENTION_KEY]) {
    struct part modifier[MAX_PARTS], type[MAX_PARTS];
    size_t n_modifiers = 0, n_types = 0, at = 0, used;
    while (at < length && mnemonic[at] != '.')
        at++;
    used = at;
    if (length >= MENTION_KEY || at == 0)
        return false;
    memcpy(key, mnemonic, used);
    while (at < length) {
        struct part part = {mnemonic + at, 1};
        while (at + part.length < length && part.text[part.length] != '.')
            part.length++;
        at += part.length;
        if (n_modifiers == MAX_PARTS || n_types == MAX_PARTS)
            return false;
        if (value_type_named(part.text + 1, part.length - 1))
            type[n_types++] = part;
        else
            modifier[n_modifiers++] = part;
    }
    qsort(modifier, n_modifiers, sizeof modifier[0], compare_parts);
    for (size_t i = 0; i < n_modifiers; used += modifier[i++].length)
        memcpy(key + used, modifier[i].text, modifier[i].length);
    for (size_t i = 0; i < n_types; used += type[i++].length)
        memcpy(key + used, type[i].text, type[i].length);
    key[used] = 0;
    return true;
}

static void add(struct mentions *mentions, const char *mnemonic, size_t length) {
    char key[MENTION_KEY];
    if (!mentions_key(mnemonic, length, key))
        return;
    if (mentions->n == mentions->room) {
        mentions->room = 2 * mentions->room + 1024;
        mentions->key = text_resize(mentions->key, mentions->room * sizeof *mentions->key);
    }
    memcpy(mentions->key[mentions->n++], key, MENTION_KEY);
}

static bool is_mnemonic(char c) { return isalnum((unsigned char)c) || c == '.' || c == '_' || c == ':'; }

/* A statement begins after a semicolon, a brace or a label; a guard may come first. */
void mentions_add_ptx(struct mentions *mentions, const char *text) {
    bool is_start = true;
    while (*text) {
        if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (isspace((unsigned char)*text)) {
            text++;
        } else if (is_start && *text == '@') {
            text += strcspn(text, " \t\n");
        } else if (is_start && isalpha((unsigned char)*text)) {
            size_t length = 1;
            while (is_mnemonic(text[length]))
                length++;
            bool is_label = text[length - 1] == ':';
            if (!is_label)
                add(mentions, text, length);
            is_start = is_label;
            text += length;
        } else {
            is_start = *text == ';' || *text == '{' || *text == '}' ? true : false;
            text++;
        }
    }
}

static int compare_keys(const void *a, const void *b) { return strcmp(a, b); }

void mentions_sort(struct mentions *mentions) {
    if (mentions->n > 0)
        qsort(mentions->key, mentions->n, sizeof *mentions->key, compare_keys);
}

bool mentions_has(const struct mentions *mentions, const char key[MENTION_KEY]) {
    return mentions->n > 0 && bsearch(key, mentions->key, mentions->n, sizeof *mentions->key, compare_keys);
}

bool mentions_has_opcode(const struct mentions *mentions, const char *opcode) {
    size_t length = strlen(opcode);
    for (size_t i = 0; i < mentions->n; i++) {
        const char *key = mentions->key[i];
        if (strncmp(key, opcode, length) == 0 && (key[length] == '.' || key[length] == '\0'))
            return true;
    }
    return false;
}

void mentions_free(struct mentions *mentions) {
    free(mentions->key);
    *mentions = (struct mentions){0};
}
