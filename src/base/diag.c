/* Diagnostics in the form compilers use, so that editors can jump to them:
 *
 *     saxpy.ptx:12:5: error: unknown instruction 'ad.f32'; did you mean 'add'?
 *         ad.f32 %f1, %f2, %f3;
 *         ^
 *
 * Nothing here prints or exits: the same text goes to a terminal, a log file or a CUDA error log buffer. There are no
 * warnings. Anything that Heddle cannot honour is an error. */
#include "base/diag.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EXCERPT_COLUMNS = 110, EXCERPT_BEFORE_CARET = 80 };

/* Writes into the fixed text of a diagnostic and drops anything that does not fit. */
struct writer {
    char *next;
    char *end; /* the last byte, kept for the NUL */
};

static void put_char(struct writer *writer, char c) {
    if (writer->next < writer->end)
        *writer->next++ = c;
}

__attribute__((format(printf, 2, 0))) static void put_format(struct writer *writer, const char *format,
                                                             va_list arguments) {
    size_t room = (size_t)(writer->end - writer->next) + 1;
    int length = vsnprintf(writer->next, room, format, arguments);
    assert(length >= 0);
    writer->next += (size_t)length < room ? (size_t)length : room - 1;
}

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_format(writer, format, arguments);
    va_end(arguments);
}

static struct writer write_to(struct base_diag *diag) {
    return (struct writer){.next = diag->text, .end = diag->text + sizeof(diag->text) - 1};
}

/* Replaces control characters, so that a message stays on one line whatever user text it quotes. */
static void put_message(struct writer *writer, const char *format, va_list arguments) {
    char *start = writer->next;
    put_format(writer, format, arguments);
    for (char *c = start; c < writer->next; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    put_char(writer, '\n');
}

/* Returns whether the line is printable text. Bytes above ASCII must be valid characters, because a terminal could take
 * others for commands. */
static bool is_text(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];
        unsigned n_more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : c >= 0xE0 && c < 0xF0 ? 2 : c < 0xF5 ? 3 : 4;
        if (c == 0x7F || (c >= 0x80 && c < 0xC2) || n_more == 4)
            return false;
        for (; n_more && i + 1 < length; n_more--)
            if (((unsigned char)line[++i] & 0xC0) != 0x80)
                return false;
    }
    return true;
}

static bool is_utf8_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Writes the source line around `offset` and a caret below it. A tab becomes one space, so that the caret lines up. */
static void put_excerpt(struct writer *writer, const struct base_source *source, size_t offset) {
    size_t start = offset;
    while (start > 0 && source->text[start - 1] != '\n')
        start--;
    while (start < offset && (source->text[start] == ' ' || source->text[start] == '\t'))
        start++;
    if (offset - start > EXCERPT_BEFORE_CARET)
        start = offset - EXCERPT_BEFORE_CARET;
    while (start < offset && is_utf8_continuation(source->text[start]))
        start++;

    size_t end = start;
    while (end < source->length && end - start < EXCERPT_COLUMNS && source->text[end] != '\n')
        end++;
    bool keeps_all = is_text(source->text + start, end - start);
    put(writer, "    ");
    for (size_t i = start; i < end; i++) {
        unsigned char c = (unsigned char)source->text[i];
        put_char(writer, c < ' ' ? ' ' : c >= 0x7F && !keeps_all ? '?' : source->text[i]);
    }
    put(writer, "\n    ");
    for (size_t i = start; i < offset; i++)
        if (!is_utf8_continuation(source->text[i]))
            put_char(writer, ' ');
    put(writer, "^\n");
}

bool base_diag_error(struct base_diag *diag, const char *format, ...) {
    if (diag->is_set)
        return false;
    diag->is_set = true;
    struct writer writer = write_to(diag);
    put(&writer, "error: ");
    va_list arguments;
    va_start(arguments, format);
    put_message(&writer, format, arguments);
    va_end(arguments);
    *writer.next = '\0';
    return false;
}

bool base_diag_error_at(struct base_diag *diag, const struct base_source *source, size_t offset, const char *format,
                        ...) {
    assert(offset <= source->length);
    if (diag->is_set)
        return false;
    diag->is_set = true;
    diag->position = base_source_position(source, offset);
    struct writer writer = write_to(diag);
    put(&writer, "%s:%u:%u: error: ", source->name, diag->position.line, diag->position.column);
    va_list arguments;
    va_start(arguments, format);
    put_message(&writer, format, arguments);
    va_end(arguments);
    put_excerpt(&writer, source, offset);
    *writer.next = '\0';
    return false;
}

struct base_position base_source_position(const struct base_source *source, size_t offset) {
    struct base_position position = {.line = 1, .column = 1};
    for (size_t i = 0; i < offset; i++) {
        position.column++;
        if (source->text[i] == '\n')
            position = (struct base_position){.line = position.line + 1, .column = 1};
    }
    return position;
}

/* Reads to the end and does not ask for a size, because the file may be a pipe. */
static char *read_all(FILE *file, struct base_arena *arena, size_t *length) {
    size_t room = 64 * 1024;
    char *text = base_arena_alloc(arena, room, 1);
    size_t used = 0;
    for (size_t n; (n = fread(text + used, 1, room - used - 1, file)) > 0;) {
        used += n;
        if (used + 1 == room) {
            char *larger = base_arena_alloc(arena, 2 * room, 1);
            memcpy(larger, text, used);
            text = larger;
            room *= 2;
        }
    }
    text[used] = '\0';
    *length = used;
    return text;
}

bool base_source_read(struct base_source *source, struct base_arena *arena, const char *path, struct base_diag *diag) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return base_diag_error(diag, "cannot open '%s': %s", path, strerror(errno));
    size_t length;
    const char *text = read_all(file, arena, &length);
    int error = ferror(file) ? errno : 0; /* opening a folder succeeds, reading it fails */
    fclose(file);
    if (error)
        return base_diag_error(diag, "cannot read '%s': %s", path, strerror(error));
    *source = (struct base_source){base_arena_copy(arena, path, strlen(path)), text, length};
    return true;
}
