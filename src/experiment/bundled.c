/* The bundled experiments: a folder of YAML files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "experiment/experiment.h"
#include "program/place.h"

static int compare_names(const void *a, const void *b) {
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

const char **experiment_names(struct base_arena *arena, unsigned *count) {
    enum { MOST = 1024 };
    const char **name = BASE_ARENA_ARRAY(arena, const char *, MOST);
    const char *folder = program_find_experiments(arena);
    DIR *entries = folder ? opendir(folder) : NULL;
    *count = 0;
    if (!entries)
        return name;
    for (const struct dirent *entry; (entry = readdir(entries)) && *count < MOST;) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0)
            name[(*count)++] = base_arena_copy(arena, entry->d_name, length - 5);
    }
    closedir(entries);
    qsort(name, *count, sizeof *name, compare_names);
    return name;
}

int experiment_load_all(struct experiment_set *experiments, struct base_arena *arena) {
    const char **name = experiment_names(arena, &experiments->count);
    const char *folder = program_find_experiments(arena);
    experiments->item = BASE_ARENA_ARRAY(arena, struct experiment, experiments->count);
    for (unsigned i = 0; i < experiments->count; i++) {
        struct base_diag diag = {0};
        if (!experiment_load(&experiments->item[i], base_arena_printf(arena, "%s/%s.yaml", folder, name[i]), arena,
                             &diag)) {
            size_t length = strlen(diag.text);
            return command_fail(COMMAND_ERROR, "%.*s", (int)(length ? length - 1 : 0), diag.text);
        }
    }
    return COMMAND_DONE;
}

const struct experiment *experiment_find(const struct experiment_set *experiments, const char *name) {
    for (unsigned i = 0; i < experiments->count; i++)
        if (strcmp(experiments->item[i].name, name) == 0)
            return &experiments->item[i];
    return NULL;
}
