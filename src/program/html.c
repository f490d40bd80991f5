/* See html.h. */
#include "program/html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/output.h"
#include "program/place.h"

enum {
    FIRST_SAMPLE_CYCLES = 16, /* of short launches; if there would be more than MOST_SAMPLES, intervals double */
    MOST_SAMPLES = 256,
};

static const char *read_page(const char *path, struct base_arena *arena) {
    FILE *file = fopen(path, "re");
    long bytes = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = NULL;
    if (bytes >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        text = base_arena_alloc(arena, (size_t)bytes + 1, 1);
        if (fread(text, 1, (size_t)bytes, file) != (size_t)bytes)
            text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* Reads the empty page. Returns NULL after one line. */
static const char *find_and_read(struct base_arena *arena) {
    const char *from = program_find_page(arena), *page = from ? read_page(from, arena) : NULL;
    if (from && !page)
        command_fail(COMMAND_ERROR, "cannot read '%s', the empty page: %s", from, strerror(errno));
    return page;
}

const char *program_page_text(const char *title, json_t *documents, struct base_arena *arena) {
    const char *page = find_and_read(arena);
    char *text = NULL;
    size_t size;
    FILE *file = page ? open_memstream(&text, &size) : NULL;
    bool is_good = file && report_write_page(file, page, title, documents);
    if (file)
        fclose(file);
    else
        json_decref(documents);
    const char *copy = is_good ? base_arena_copy(arena, text, size) : NULL;
    free(text);
    return copy;
}

int program_html_open(struct program_html *html, const char *path, struct base_arena *arena) {
    *html = (struct program_html){.path = path};
    if (!path)
        return COMMAND_DONE;
    html->page = find_and_read(arena);
    if (!html->page)
        return COMMAND_ERROR;
    return command_open_output(path, &html->file) ? COMMAND_DONE : COMMAND_ERROR;
}

void program_html_record(struct program_execution *execution, struct report_run *run) {
    run->is_for_page.lines = !execution->records_lines;
    execution->records_lines = true;
    if (execution->target && !execution->sample_cycles) {
        run->is_for_page.samples = true;
        execution->sample_cycles = FIRST_SAMPLE_CYCLES;
        execution->most_samples = MOST_SAMPLES;
    }
}

bool program_html_write(struct program_html *html, const char *title, json_t *documents) {
    return command_close_output(html->path, html->file, report_write_page(html->file, html->page, title, documents));
}
