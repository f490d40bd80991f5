/* Text tables with aligned columns. Cells are ASCII, so a byte is one terminal column. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/report.h"

struct report_row {
    struct report_row *next;
    unsigned n_cells;
    const char *cell[REPORT_MAX_COLUMNS];
};

struct report_table report_table_new(struct base_arena *arena, unsigned n_columns) {
    return (struct report_table){.arena = arena, .n_columns = n_columns, .is_left = {true}};
}

static void add_cell(struct report_table *table, const char *text) {
    struct report_row *row = table->last;
    if (!row || row->n_cells == table->n_columns) {
        row = BASE_ARENA_NEW(table->arena, struct report_row);
        if (table->last)
            table->last->next = row;
        else
            table->first = row;
        table->last = row;
    }
    row->cell[row->n_cells++] = text;
}

void report_table_cell(struct report_table *table, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_cell(table, base_arena_copy(table->arena, text, strlen(text)));
}

void report_table_count(struct report_table *table, uint64_t count) {
    char digits[24], text[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    add_cell(table, base_arena_copy(table->arena, text, (size_t)at));
}

static void print_row(const struct report_table *table, const struct report_row *row, const int *width, FILE *file) {
    unsigned n_cells = row->n_cells;
    while (n_cells && *row->cell[n_cells - 1] == '\0')
        n_cells--;
    for (unsigned i = 0; i < n_cells; i++) {
        bool is_last = i + 1 == n_cells;
        if (i > 0)
            fputs("  ", file);
        if (table->is_left[i])
            fprintf(file, "%-*s", is_last ? 0 : width[i], row->cell[i]);
        else
            fprintf(file, "%*s", width[i], row->cell[i]);
    }
}

void report_table_print(const struct report_table *table, FILE *file, bool is_colored) {
    int width[REPORT_MAX_COLUMNS] = {0};
    for (const struct report_row *row = table->first; row; row = row->next)
        for (unsigned i = 0; i < row->n_cells; i++)
            if ((int)strlen(row->cell[i]) > width[i])
                width[i] = (int)strlen(row->cell[i]);
    for (const struct report_row *row = table->first; row; row = row->next) {
        bool is_bold = is_colored && row == table->first;
        fputs(is_bold ? "\033[1m" : "", file);
        print_row(table, row, width, file);
        fputs(is_bold ? "\033[0m\n" : "\n", file);
    }
}
