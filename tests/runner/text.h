/* Text that grows, and whole files: what the test runners share. Out of memory ends the program. */
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

/* The file's bytes, terminated and malloc'ed; NULL with errno set when it cannot be read. */
char *text_read_file(const char *path);

/* realloc that never fails. */
void *text_resize(void *memory, size_t bytes);

/* One line of a text without its end; *at moves to the next. False at the end of the text. */
bool text_next_line(const char **at, const char **line, size_t *length);
/* The next word of [*at, end), skipping blanks; false when there is none. */
bool text_next_word(const char **at, const char *end, const char **word, size_t *length);
/* The part of a path after its last slash, without the ending; the result is cut to size. */
void text_stem(const char *path, char *stem, size_t size);
