/* Growing text and whole files, for the test runners. Running out of memory ends the program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* terminated; NULL while empty */
    size_t length, room;
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_free(struct text *text);

/* Returns the file's bytes, terminated and malloc'ed; NULL with errno set when it cannot be read. */
char *text_read_file(const char *path);

/* realloc that never fails. */
void *text_resize(void *memory, size_t bytes);

/* Reads one line of a text without its end and moves *at to the next. Returns false at the end of the text. */
bool text_next_line(const char **at, const char **line, size_t *length);
/* Reads the next word of [*at, end), skipping blanks; returns false when there is none. */
bool text_next_word(const char **at, const char *end, const char **word, size_t *length);
/* Copies the part of a path after its last slash, without the ending, truncated to size. */
void text_stem(const char *path, char *stem, size_t size);
