/* The lines that cost a run most. Each launch names one (gpu/hot_lines.c). Those of all launches are added up by line,
 * so a share is a lower bound if a line is not the first in every launch. */
#include <string.h>

#include "report/internal.h"

static const char *copy_text(struct base_arena *arena, const json_t *value) {
    const char *text = json_string_value(value);
    return text ? base_arena_copy(arena, text, strlen(text)) : NULL;
}

static uint64_t number(const json_t *object, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static struct report_hot_line *find(struct report_hot_line *list, unsigned *n, const struct report_hot_line *line) {
    for (unsigned i = *n; i-- > 0;)
        if (list[i].line == line->line && list[i].second == line->second && is_same(list[i].file, line->file) &&
            is_same(list[i].kernel, line->kernel))
            return &list[i];
    list[*n] = (struct report_hot_line){
        .kernel = line->kernel, .file = line->file, .line = line->line, .second = line->second};
    return &list[(*n)++];
}

static struct report_hot_line read_kind(const json_t *launches, const char *kind, struct base_arena *arena) {
    struct report_hot_line *list = BASE_ARENA_ARRAY(arena, struct report_hot_line, json_array_size(launches) + 1);
    const json_t *launch;
    uint64_t whole = 0;
    unsigned n = 0, most = 0;
    size_t i;
    json_array_foreach(launches, i, launch) {
        const json_t *object = json_object_get(json_object_get(launch, "hot"), kind);
        if (!object)
            continue;
        struct report_hot_line line = {.kernel = copy_text(arena, json_object_get(launch, "name")),
                                       .file = copy_text(arena, json_object_get(object, "file")),
                                       .line = (uint32_t)number(object, "line"),
                                       .second = (uint32_t)number(object, "second")};
        struct report_hot_line *sum = find(list, &n, &line);
        sum->part += number(object, "part");
        sum->accesses += number(object, "accesses");
        sum->lines += number(object, "lines");
        whole += number(object, "whole");
    }
    for (unsigned k = 1; k < n; k++)
        if (list[k].part > list[most].part)
            most = k;
    list[most].whole = whole;
    return list[most];
}

void report_read_hot(struct report_run *run, const json_t *launches, struct base_arena *arena) {
    static const char *const kinds[REPORT_N_HOT] = {
        [REPORT_HOT_LOADS] = "loads", [REPORT_HOT_CONFLICTS] = "conflicts", [REPORT_HOT_BRANCHES] = "branches"};
    for (int i = 0; i < REPORT_N_HOT; i++)
        run->hot[i] = read_kind(launches, kinds[i], arena);
}
