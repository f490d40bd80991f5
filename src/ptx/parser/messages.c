/* Messages about PTX text: path:line:col: error: what, then the line with a caret below.
 *
 * The errors of one parse are collected, sorted by position, and cut after the first twenty. */
#include "ptx/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_COLUMNS = 160 };

bool ptx_fail(struct ptx_parser *parser, struct ptx_location at, const char *format, ...) {
    parser->n_errors++;
    if (parser->errors.count == PTX_MAX_KEPT_ERRORS)
        return false;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct ptx_error error = {
        .at = at, .order = parser->errors.count, .text = base_arena_copy(&parser->scratch, text, strlen(text))};
    PTX_PUSH(&parser->errors, error);
    return false;
}

static void append(struct ptx_messages *messages, const char *text, size_t length) {
    size_t before = messages->text ? strlen(messages->text) : 0;
    char *longer = realloc(messages->text, before + length + 1);
    if (!longer)
        return;
    memcpy(longer + before, text, length);
    longer[before + length] = '\0';
    messages->text = longer;
}

static void append_text(struct ptx_messages *messages, const char *text) { append(messages, text, strlen(text)); }

/* Returns the start of a line, or the text's end if there is no such line. */
static const char *find_line(const char *text, size_t length, uint32_t line) {
    const char *end = text + length;
    for (uint32_t n = 1; n < line && text < end; n++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        text = newline ? newline + 1 : end;
    }
    return text;
}

static bool is_shown(char c) { return c == '\t' || (c >= ' ' && c <= '~'); }

/* Appends the line (a window of a long one) and the caret line, which repeats the line's tabs. */
static void append_excerpt(struct ptx_messages *messages, const struct ptx_module *module, struct ptx_location at) {
    const char *line = find_line(module->text, module->text_length, at.line);
    size_t left = (size_t)(module->text + module->text_length - line);
    const char *newline = memchr(line, '\n', left);
    size_t length = newline ? (size_t)(newline - line) : left;
    size_t caret = at.column ? at.column - 1 : 0;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (caret > length)
        caret = length;
    size_t first = caret > SHOWN_COLUMNS / 2 ? caret - SHOWN_COLUMNS / 2 : 0;
    size_t shown = length - first < SHOWN_COLUMNS ? length - first : SHOWN_COLUMNS;
    char text[2 * SHOWN_COLUMNS + 8];
    size_t n = 0;
    for (size_t i = 0; i < shown; i++)
        text[n++] = is_shown(line[first + i]) ? line[first + i] : '?';
    text[n++] = '\n';
    for (size_t i = first; i < caret; i++)
        text[n++] = line[i] == '\t' ? '\t' : ' ';
    text[n++] = '^';
    text[n++] = '\n';
    append(messages, text, n);
}

static void append_error(struct ptx_messages *messages, const struct ptx_module *module, struct ptx_location at,
                         const char *text) {
    char head[64];
    snprintf(head, sizeof head, ":%u:%u: error: ", at.line, at.column);
    append_text(messages, module->path);
    append_text(messages, head);
    append_text(messages, text);
    append_text(messages, "\n");
    if (at.line > 0)
        append_excerpt(messages, module, at);
}

void ptx_error_at(struct ptx_messages *messages, const struct ptx_module *module, struct ptx_location at,
                  const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    append_error(messages, module, at, text);
    messages->n_errors++;
}

static int in_text_order(const void *a, const void *b) {
    const struct ptx_error *x = a, *y = b;
    if (x->at.line != y->at.line)
        return x->at.line < y->at.line ? -1 : 1;
    if (x->at.column != y->at.column)
        return x->at.column < y->at.column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void ptx_report(struct ptx_parser *parser, struct ptx_messages *messages) {
    if (parser->errors.count == 0)
        return;
    qsort(parser->errors.item, parser->errors.count, sizeof *parser->errors.item, in_text_order);
    uint32_t shown = parser->errors.count < PTX_MAX_SHOWN_ERRORS ? parser->errors.count : PTX_MAX_SHOWN_ERRORS;
    for (uint32_t i = 0; i < shown; i++)
        append_error(messages, parser->module, parser->errors.item[i].at, parser->errors.item[i].text);
    messages->n_errors += parser->n_errors;
    if (parser->n_errors > shown) {
        uint32_t more = parser->n_errors - shown;
        char text[64];
        snprintf(text, sizeof text, ": %u more error%s\n", more, more == 1 ? "" : "s");
        append_text(messages, parser->module->path);
        append_text(messages, text);
    }
}

void ptx_messages_free(struct ptx_messages *messages) {
    free(messages->text);
    *messages = (struct ptx_messages){0};
}
