/* See page.h. The data is JSON in a script element that no browser executes. '<' is escaped in it, so that nothing in
 * the data can end the element. */
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "report/internal.h"

enum {
    MOST_SERIES = 4,         /* launches of a run whose time series are kept */
    MOST_THREADS = 1u << 18, /* of a launch whose threads are drawn */
};

/* ---- Documents --------------------------------------------------------------------------------------------------- */

static int compare_cycles(const void *a, const void *b) {
    json_int_t left = *(const json_int_t *)a, right = *(const json_int_t *)b;
    return left > right ? -1 : left < right;
}

static json_int_t cycles_of(const json_t *kernel) { return json_integer_value(json_object_get(kernel, "cycles")); }

/* Removes the time series of all but the longest launches. */
static void keep_longest_series(json_t *run, struct base_arena *arena) {
    json_t *kernels = json_object_get(run, "kernels"), *kernel;
    size_t n = json_array_size(kernels), n_kept = 0, i;
    if (n <= MOST_SERIES)
        return;
    json_int_t *cycles = BASE_ARENA_ARRAY(arena, json_int_t, n);
    json_array_foreach(kernels, i, kernel) cycles[i] = cycles_of(kernel);
    qsort(cycles, n, sizeof *cycles, compare_cycles);
    json_array_foreach(kernels, i, kernel) {
        if (cycles_of(kernel) >= cycles[MOST_SERIES - 1] && n_kept < MOST_SERIES)
            n_kept++;
        else
            json_object_del(kernel, "samples");
    }
}

/* Source files, each read once. */
struct files {
    struct file {
        const char *path;
        struct report_source source;
    } * file;
    unsigned count, room;
    struct base_arena *arena;
};

static const struct report_source *source_of(struct files *files, const char *path) {
    for (unsigned i = 0; i < files->count; i++)
        if (strcmp(files->file[i].path, path) == 0)
            return &files->file[i].source;
    if (files->count == files->room) {
        struct file *larger = BASE_ARENA_ARRAY(files->arena, struct file, 2 * files->room + 8);
        if (files->count)
            memcpy(larger, files->file, files->count * sizeof *larger);
        files->file = larger;
        files->room = 2 * files->room + 8;
    }
    struct file *file = &files->file[files->count++];
    *file = (struct file){base_arena_copy(files->arena, path, strlen(path)), report_read_source(path, files->arena)};
    return &file->source;
}

/* Adds the text of a line of a source file: {path: {line: text}}. Adds nothing for a line that does not exist. */
static void add_source_line(json_t *sources, struct files *files, const char *path, json_int_t number) {
    char key[24];
    const struct report_source *source = source_of(files, path);
    if (number < 1 || number > source->n_lines)
        return;
    if (!json_object_get(sources, path))
        json_object_set_new(sources, path, json_object());
    snprintf(key, sizeof key, "%lld", (long long)number);
    json_t *text = json_string(source->line[number - 1]); /* NULL: not UTF-8 */
    if (text)
        json_object_set_new(json_object_get(sources, path), key, text);
}

/* Adds the lines of source files that the listings of a run name. */
static void add_sources(json_t *run, struct files *files) {
    json_t *sources = json_object();
    const json_t *listing, *line;
    size_t i, k;
    json_array_foreach(json_object_get(run, "lines"), i, listing) {
        json_array_foreach(json_object_get(listing, "lines"), k, line) {
            const char *path = json_string_value(json_object_get(line, "file"));
            if (path)
                add_source_line(sources, files, path, json_integer_value(json_object_get(line, "source_line")));
        }
    }
    if (json_object_size(sources))
        json_object_set(run, "sources", sources);
    json_decref(sources);
}

static void complete_run(json_t *run, struct files *files) {
    keep_longest_series(run, files->arena);
    add_sources(run, files);
}

void report_complete_document(json_t *document, struct base_arena *arena) {
    struct files files = {.arena = arena};
    json_t *runs = json_object_get(document, "runs"), *run;
    size_t i;
    if (!runs)
        complete_run(document, &files);
    json_array_foreach(runs, i, run) complete_run(run, &files);
}

static bool has_drawable_threads(const struct report_run *run) {
    for (unsigned i = 0; i < run->n_profiles; i++)
        if (run->profile[i].n_threads > MOST_THREADS)
            return false;
    return run->n_profiles > 0;
}

json_t *report_run_document(const struct report_run *run, struct base_arena *arena) {
    json_t *document = report_run_json(run, true, true);
    if (has_drawable_threads(run))
        json_object_set_new(document, "threads", report_threads_json(run));
    report_complete_document(document, arena);
    return document;
}

json_t *report_comparison_document(const struct report_comparison *comparison, struct base_arena *arena) {
    json_t *document = report_comparison_json(comparison, true);
    report_complete_document(document, arena);
    return document;
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static json_t *meanings(void) {
    json_t *object = json_object();
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        json_object_set_new(object, stats_list[i].name, json_string(stats_list[i].meaning));
    for (unsigned i = 0; i < report_n_derived; i++)
        json_object_set_new(object, report_derived[i].name, json_string(report_derived[i].meaning));
    return object;
}

/* Returns the words for stalls, of SMs and of lines. */
static json_t *stalls(void) {
    json_t *sm = json_array(), *line = json_array();
    for (unsigned i = 0; i < STATS_N_SM_STALLS; i++)
        json_array_append_new(sm, json_string(stats_sm_stalls[i].word));
    for (unsigned i = 0; i < STATS_N_LINE_STALLS; i++)
        json_array_append_new(line, json_string(stats_line_stalls[i].word));
    return json_pack("{s:o, s:o}", "sm", sm, "line", line);
}

/* Adds the demangled form of every mangled name below `value`: {mangled: demangled}. */
static void add_names(json_t *names, const json_t *value, struct base_arena *arena) {
    const char *key;
    json_t *part;
    size_t i;
    if (json_is_array(value)) {
        json_array_foreach((json_t *)value, i, part) add_names(names, part, arena);
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, part) {
            const char *name = strcmp(key, "name") == 0 || strcmp(key, "kernel") == 0 ? json_string_value(part) : NULL;
            if (!name)
                add_names(names, part, arena);
            else if (strncmp(name, "_Z", 2) == 0 && !json_object_get(names, name))
                json_object_set_new(names, name, json_string(base_demangle(name, arena)));
        }
    }
}

static json_t *names_of(const json_t *documents) {
    struct base_arena arena = {0};
    json_t *names = json_object();
    add_names(names, documents, &arena);
    base_arena_free(&arena);
    return names;
}

static int write_escaped(const char *text, size_t size, void *user) {
    FILE *file = user;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<')
            fputs("\\u003c", file);
        else
            fputc(text[i], file);
    }
    return ferror(file) ? -1 : 0;
}

bool report_write_page(FILE *file, const char *page, const char *title, json_t *documents) {
    static const char place[] = "<!--data-->";
    const char *at = strstr(page, place);
    json_t *data = json_object();
    json_object_set_new(data, "heddle", json_string(HEDDLE_VERSION));
    json_t *name = json_string(title); /* NULL: not UTF-8 */
    json_object_set_new(data, "title", name ? name : json_string("Heddle"));
    json_object_set_new(data, "names", names_of(documents));
    json_object_set_new(data, "documents", documents);
    json_object_set_new(data, "meanings", meanings());
    json_object_set_new(data, "stalls", stalls());
    bool is_good = at != NULL;
    errno = at ? errno : EINVAL;
    if (is_good) {
        fwrite(page, 1, (size_t)(at - page), file);
        fputs("<script id=\"data\" type=\"application/json\">", file);
        is_good = json_dump_callback(data, write_escaped, file, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
        fputs("</script>", file);
        fputs(at + strlen(place), file);
    }
    json_decref(data);
    return is_good && fflush(file) == 0 && !ferror(file);
}
