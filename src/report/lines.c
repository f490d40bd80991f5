/* The annotated listing of a run: reads it, prints it line by line, and writes it as JSON. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/internal.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *copy_text(struct base_arena *arena, const json_t *value) {
    const char *text = json_string_value(value);
    return text ? base_arena_copy(arena, text, strlen(text)) : NULL;
}

static void read_line(struct report_line *line, const json_t *object, struct base_arena *arena) {
    line->line = (uint32_t)json_integer_value(json_object_get(object, "line"));
    line->source_line = (uint32_t)json_integer_value(json_object_get(object, "source_line"));
    line->file = copy_text(arena, json_object_get(object, "file"));
    line->text = copy_text(arena, json_object_get(object, "text"));
    for (unsigned i = 0; i < STATS_N_LINE; i++)
        line->counters.value[i] = (uint64_t)json_integer_value(json_object_get(object, stats_line_list[i].name));
}

void report_read_listings(struct report_run *run, const json_t *array, struct base_arena *arena) {
    run->n_listings = (unsigned)json_array_size(array);
    run->listing = BASE_ARENA_ARRAY(arena, struct report_listing, run->n_listings);
    for (unsigned i = 0; i < run->n_listings; i++) {
        const json_t *object = json_array_get(array, i), *lines = json_object_get(object, "lines");
        struct report_listing *listing = &run->listing[i];
        const json_t *name = json_object_get(object, "name"); /* the driver's word; --json writes "kernel" */
        listing->kernel = copy_text(arena, name ? name : json_object_get(object, "kernel"));
        listing->n_launches = (unsigned)json_integer_value(json_object_get(object, "launches"));
        listing->n_lines = (unsigned)json_array_size(lines);
        listing->line = BASE_ARENA_ARRAY(arena, struct report_line, listing->n_lines);
        for (unsigned k = 0; k < listing->n_lines; k++)
            read_line(&listing->line[k], json_array_get(lines, k), arena);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *line_json(const struct report_line *line, bool is_timed) {
    json_t *object = json_object();
    json_object_set_new(object, "line", json_integer(line->line));
    json_object_set_new(object, "text", json_string(line->text));
    if (line->source_line) {
        json_object_set_new(object, "file", json_string(line->file));
        json_object_set_new(object, "source_line", json_integer(line->source_line));
    }
    for (unsigned i = 0; i < STATS_N_LINE; i++)
        if (stats_is_shown(&stats_line_list[i], is_timed))
            json_object_set_new(object, stats_line_list[i].name, json_integer((json_int_t)line->counters.value[i]));
    return object;
}

json_t *report_listings_json(const struct report_run *run) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_listings; i++) {
        const struct report_listing *listing = &run->listing[i];
        json_t *object = json_object(), *lines = json_array();
        json_object_set_new(object, "kernel", json_string(listing->kernel));
        json_object_set_new(object, "launches", json_integer(listing->n_launches));
        for (unsigned k = 0; k < listing->n_lines; k++)
            json_array_append_new(lines, line_json(&listing->line[k], run->target));
        json_object_set_new(object, "lines", lines);
        json_array_append_new(array, object);
    }
    return array;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* The counters of a line of the CUDA source: the sum of its PTX lines. */
struct source_line {
    const char *file;
    uint32_t line;
    struct stats_line counters;
};

static void add_heading(struct report_table *table, const char *line, bool is_timed) {
    static const char *const always[] = {"executed", "lanes", "diverged"};
    static const char *const timed[] = {"misses", "stalls", "main stall"};
    report_table_cell(table, "%s", line);
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        report_table_cell(table, "%s", always[i]);
    for (size_t i = 0; is_timed && i < sizeof timed / sizeof timed[0]; i++)
        report_table_cell(table, "%s", timed[i]);
    report_table_cell(table, "text");
}

/* Returns the stall that caused most of the line's stall cycles. */
static const char *main_stall(const struct stats_line *line) {
    const struct stats_stall *most = &stats_line_stalls[0];
    for (unsigned i = 1; i < STATS_N_LINE_STALLS; i++)
        if (line->value[stats_line_stalls[i].at] > line->value[most->at])
            most = &stats_line_stalls[i];
    return line->value[most->at] ? most->word : "";
}

static void add_row(struct report_table *table, uint32_t number, const struct stats_line *line, uint64_t all_stalls,
                    bool is_timed, const char *text) {
    if (number)
        report_table_cell(table, "%u", number);
    else
        report_table_cell(table, "-");
    report_table_count(table, line->executed);
    report_table_cell(table, "%.1f", line->executed ? (double)line->active_lanes / (double)line->executed : 0);
    if (line->diverged)
        report_table_count(table, line->diverged);
    else
        report_table_cell(table, "%s", "");
    if (is_timed) {
        uint64_t stalls = stats_line_stall_cycles(line);
        if (line->accesses)
            report_table_cell(table, "%.1f %%",
                              line->requests ? 100 * (double)line->misses / (double)line->requests : 0);
        else
            report_table_cell(table, "%s", "");
        report_table_cell(table, "%.1f %%", all_stalls ? 100 * (double)stalls / (double)all_stalls : 0);
        report_table_cell(table, "%s", main_stall(line));
    }
    report_table_cell(table, "%s", text);
}

static struct report_table new_table(const char *line, bool is_timed, struct base_arena *arena) {
    struct report_table table = report_table_new(arena, is_timed ? 8 : 5);
    table.is_left[table.n_columns - 1] = true;
    if (is_timed)
        table.is_left[table.n_columns - 2] = true;
    add_heading(&table, line, is_timed);
    return table;
}

static int compare_sources(const void *a, const void *b) {
    const struct source_line *left = a, *right = b;
    int files = strcmp(left->file, right->file);
    return files ? files : left->line < right->line ? -1 : left->line > right->line;
}

/* Sums the lines of a listing by their line in the CUDA source. Returns *count lines in the order of the source. */
static struct source_line *sum_sources(const struct report_listing *listing, struct base_arena *arena,
                                       unsigned *count) {
    struct source_line *source = BASE_ARENA_ARRAY(arena, struct source_line, listing->n_lines);
    unsigned n = 0, n_sums = 0;
    for (unsigned i = 0; i < listing->n_lines; i++)
        if (listing->line[i].source_line && listing->line[i].file)
            source[n++] =
                (struct source_line){listing->line[i].file, listing->line[i].source_line, listing->line[i].counters};
    qsort(source, n, sizeof *source, compare_sources);
    for (unsigned i = 0; i < n; i++) {
        if (n_sums && compare_sources(&source[n_sums - 1], &source[i]) == 0)
            stats_add_line(&source[n_sums - 1].counters, &source[i].counters);
        else
            source[n_sums++] = source[i];
    }
    *count = n_sums;
    return source;
}

static void print_source(FILE *file, const struct report_listing *listing, uint64_t stalls, bool is_timed,
                         bool is_colored, struct base_arena *arena) {
    unsigned count;
    const struct source_line *source = sum_sources(listing, arena, &count);
    for (unsigned first = 0, next; first < count; first = next) {
        const char *path = source[first].file;
        struct report_source text = report_read_source(path, arena);
        struct report_table table = new_table("CUDA line", is_timed, arena);
        for (next = first; next < count && strcmp(source[next].file, path) == 0; next++)
            if (source[next].counters.executed)
                add_row(&table, source[next].line, &source[next].counters, stalls, is_timed,
                        source[next].line <= text.n_lines ? text.line[source[next].line - 1] : "");
        fprintf(file, "\n%s, %s\n", listing->kernel, path);
        report_table_print(&table, file, is_colored);
    }
}

void report_print_lines(FILE *file, const struct report_run *run, bool is_colored, struct base_arena *arena) {
    bool is_timed = run->target != NULL;
    for (unsigned i = 0; i < run->n_listings; i++) {
        const struct report_listing *listing = &run->listing[i];
        struct report_table table = new_table("PTX line", is_timed, arena);
        uint64_t stalls = 0;
        for (unsigned k = 0; k < listing->n_lines; k++)
            stalls += stats_line_stall_cycles(&listing->line[k].counters);
        for (unsigned k = 0; k < listing->n_lines; k++)
            if (listing->line[k].counters.executed)
                add_row(&table, listing->line[k].line, &listing->line[k].counters, stalls, is_timed,
                        listing->line[k].text);
        fprintf(file, "\n%s\n", listing->kernel);
        report_table_print(&table, file, is_colored);
        print_source(file, listing, stalls, is_timed, is_colored, arena);
    }
}
