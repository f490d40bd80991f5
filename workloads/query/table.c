// Reads CSV: commas, names that may be quoted, 32-bit whole numbers, spaces around them. Empty lines are skipped. See
// table.h.
#include "table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *read_file(const struct workload *w, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        workload_fail(w, "cannot read '%s': %s", path, strerror(errno));
    size_t capacity = 1 << 16, length = 0, got;
    char *text = malloc(capacity);
    while (text && (got = fread(text + length, 1, capacity - length - 1, file)) > 0) {
        length += got;
        if (capacity - length < 2)
            text = realloc(text, capacity *= 2);
    }
    if (!text)
        workload_fail(w, "no memory for '%s'", path);
    bool is_read = !ferror(file), has_zero = memchr(text, '\0', length) != NULL;
    int reason = errno;
    fclose(file);
    text[length] = '\0';
    if (is_read && !has_zero)
        return text;
    free(text);
    if (!is_read)
        workload_fail(w, "cannot read '%s': %s", path, strerror(reason));
    workload_fail(w, "'%s' is no CSV file: it has a zero byte", path);
}

// Terminates the line, without trailing spaces; returns the start of the next one, or NULL.
static char *cut_line(char *line) {
    char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : NULL;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return next;
}

// Terminates the field, without quotes and surrounding spaces; returns the start of the next one, or NULL.
static char *cut_field(char **field) {
    char *end = *field + strcspn(*field, ","), *next = *end ? end + 1 : NULL;
    *field += strspn(*field, " \t");
    while (end > *field && isspace((unsigned char)end[-1]))
        end--;
    if (end - *field >= 2 && **field == '"' && end[-1] == '"') {
        ++*field;
        end--;
    }
    *end = '\0';
    return next;
}

static unsigned count_lines(const char *text) {
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n + 1;
}

static void read_names(const struct workload *w, const char *path, struct table *table, char *line) {
    unsigned most = 1;
    for (const char *at = line; *at; at++)
        most += *at == ',';
    table->name = workload_array(w, most, sizeof *table->name);
    table->column = workload_array(w, most, sizeof *table->column);
    for (char *field = line; field;) {
        char *next = cut_field(&field);
        if (!*field)
            workload_fail(w, "%s:1: column %u has no name", path, table->n_columns + 1);
        if (table_find(table, field, strlen(field)) >= 0)
            workload_fail(w, "%s:1: two columns are named '%s'", path, field);
        table->name[table->n_columns++] = field;
        field = next;
    }
}

static void read_row(const struct workload *w, const char *path, unsigned number, struct table *table, char *line) {
    unsigned c = 0;
    for (char *field = line; field; c++) {
        char *next = cut_field(&field), *rest;
        if (c == table->n_columns)
            workload_fail(w, "%s:%u: more than %u values", path, number, table->n_columns);
        errno = 0;
        long long value = strtoll(field, &rest, 10);
        if (rest == field || *rest || errno || value < INT32_MIN || value > INT32_MAX)
            workload_fail(w, "%s:%u: '%s' in column %s is no whole number from %d to %d", path, number, field,
                          table->name[c], INT32_MIN, INT32_MAX);
        table->column[c][table->n_rows] = (int32_t)value;
        field = next;
    }
    if (c < table->n_columns)
        workload_fail(w, "%s:%u: %u values, not %u", path, number, c, table->n_columns);
    table->n_rows++;
}

struct table table_read(const struct workload *w, const char *path) {
    struct table table = {.text = read_file(w, path)};
    unsigned n_lines = count_lines(table.text), number = 1;
    char *next = cut_line(table.text);
    if (!*table.text)
        workload_fail(w, "'%s' has no line with the names of its columns", path);
    read_names(w, path, &table, table.text);
    for (unsigned c = 0; c < table.n_columns; c++)
        table.column[c] = workload_array(w, n_lines, sizeof *table.column[c]);
    for (char *line = next; line; line = next) {
        number++;
        next = cut_line(line);
        if (*line)
            read_row(w, path, number, &table, line);
    }
    return table;
}

int table_find(const struct table *table, const char *name, size_t length) {
    for (unsigned c = 0; c < table->n_columns; c++)
        if (strlen(table->name[c]) == length && strncasecmp(table->name[c], name, length) == 0)
            return (int)c;
    return -1;
}

void table_free(struct table *table) {
    for (unsigned c = 0; c < table->n_columns; c++)
        free(table->column[c]);
    free(table->column);
    free(table->name);
    free(table->text);
}
