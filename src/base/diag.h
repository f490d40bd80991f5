/* Errors in the user's input: the mistake, its place, and the line itself. See diag.c for the format. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* A text that positions refer to. `text` is NUL-terminated after `length` bytes; neither pointer is owned. */
struct base_source {
    const char *name; /* as the user named it: a path, or "<module>" for text that came through an API */
    const char *text;
    size_t length;
};

/* Both count from 1; columns count bytes. */
struct base_position {
    unsigned line;
    unsigned column;
};

enum { BASE_DIAG_BYTES = 1024 };

/* The first error of a job. Later errors are dropped, because they are mostly consequences. An all-zero value means no
 * error. `text` is complete: one line that says what and where, then, for a position in a source, that line and a
 * caret. Each line ends in a newline. Text that does not fit is cut. */
struct base_diag {
    bool is_set;
    struct base_position position; /* 0, 0: not in a source */
    char text[BASE_DIAG_BYTES];
};

/* Records "error: ..." without a position. Always returns false, so that a caller can `return base_diag_error(...)`. */
__attribute__((format(printf, 2, 3))) bool base_diag_error(struct base_diag *diag, const char *format, ...);

/* Records "name:line:column: error: ..." and the excerpt. `offset` is a byte of source->text, or its length for the end
 * of the text. Always returns false. */
__attribute__((format(printf, 4, 5))) bool base_diag_error_at(struct base_diag *diag, const struct base_source *source,
                                                              size_t offset, const char *format, ...);

/* Returns the line and column of a byte of the text. It scans from the start, so do not call it in inner loops. */
struct base_position base_source_position(const struct base_source *source, size_t offset);

/* Reads a whole file into the arena and copies its name. Returns false, with the reason in `diag`, if it cannot be
 * read. */
bool base_source_read(struct base_source *source, struct base_arena *arena, const char *path, struct base_diag *diag);
