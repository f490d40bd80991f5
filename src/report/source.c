/* Reads the source files that a program's line information names, for listings. A missing file has no lines. */
#include <stdio.h>
#include <string.h>

#include "report/internal.h"

enum { MOST_BYTES = 1 << 22 };

/* Cuts the text into lines without the blanks around them. */
static void cut_lines(struct report_source *source, char *text, struct base_arena *arena) {
    size_t n = 1;
    for (const char *at = text; *at; at++)
        n += *at == '\n';
    source->line = BASE_ARENA_ARRAY(arena, const char *, n);
    for (char *at = text; at && *at;) {
        char *newline = strchr(at, '\n'), *end = newline ? newline : at + strlen(at);
        char *begin = at + strspn(at, " \t");
        while (end > begin && strchr(" \t\r", end[-1]))
            end--;
        at = newline ? newline + 1 : NULL;
        *end = '\0';
        source->line[source->n_lines++] = begin < end ? begin : "";
    }
}

struct report_source report_read_source(const char *path, struct base_arena *arena) {
    struct report_source source = {0};
    FILE *file = fopen(path, "re");
    if (!file)
        return source;
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (bytes > 0 && bytes <= MOST_BYTES && fseek(file, 0, SEEK_SET) == 0) {
        char *text = base_arena_alloc(arena, (size_t)bytes + 1, 1);
        text[fread(text, 1, (size_t)bytes, file)] = '\0';
        cut_lines(&source, text, arena);
    }
    fclose(file);
    return source;
}
