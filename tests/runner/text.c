/* Growing text and whole files. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *text_resize(void *memory, size_t bytes) {
    void *moved = realloc(memory, bytes ? bytes : 1);
    if (!moved) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return moved;
}

static void make_room(struct text *text, size_t more) {
    if (text->length + more + 1 <= text->room)
        return;
    text->room = 2 * text->room + more + 64;
    text->data = text_resize(text->data, text->room);
}

void text_add_bytes(struct text *text, const char *bytes, size_t length) {
    make_room(text, length);
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_add(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    make_room(text, (size_t)length);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void text_free(struct text *text) {
    free(text->data);
    *text = (struct text){0};
}

char *text_read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    struct text text = {0};
    char block[1 << 14];
    size_t got;
    make_room(&text, 1);
    text.data[0] = 0;
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        text_add_bytes(&text, block, got);
    bool is_good = !ferror(file);
    fclose(file);
    if (!is_good)
        text_free(&text);
    return text.data;
}

bool text_next_line(const char **at, const char **line, size_t *length) {
    if (!**at)
        return false;
    *line = *at;
    *length = strcspn(*at, "\n");
    *at += *length + ((*at)[*length] == '\n');
    return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool text_next_word(const char **at, const char *end, const char **word, size_t *length) {
    while (*at < end && is_blank(**at))
        ++*at;
    *word = *at;
    while (*at < end && !is_blank(**at))
        ++*at;
    *length = (size_t)(*at - *word);
    return *length > 0;
}

void text_stem(const char *path, char *stem, size_t size) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    snprintf(stem, size, "%.*s", (int)(dot ? dot - name : (ptrdiff_t)strlen(name)), name);
}
