/* Finds machine files: a name refers to a file in the folder of machines, and a path is used as is. `extends` follows
 * the same rule, but its paths are relative to the file that contains it. */
#include "config/internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { MOST_FILES = 8 }; /* in a chain of extends */

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool config_is_path(const char *text) {
    return strchr(text, '/') || ends_with(text, ".yaml") || ends_with(text, ".yml");
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **config_list(const char *folder, struct base_arena *arena, unsigned *count, char *error,
                         size_t error_bytes) {
    DIR *entries = opendir(folder);
    *count = 0;
    if (!entries) {
        config_error(error, error_bytes, "cannot read the folder of machines '%s': %s", folder, strerror(errno));
        return NULL;
    }
    unsigned room = 32;
    const char **names = BASE_ARENA_ARRAY(arena, const char *, room);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".yaml"))
            continue;
        if (*count == room) {
            const char **larger = BASE_ARENA_ARRAY(arena, const char *, 2 * (size_t)room);
            memcpy(larger, names, room * sizeof *names);
            names = larger;
            room *= 2;
        }
        names[(*count)++] = base_arena_copy(arena, entry->d_name, strlen(entry->d_name) - strlen(".yaml"));
    }
    closedir(entries);
    qsort(names, *count, sizeof *names, compare_names);
    return names;
}

/* Returns one line about a machine that is not in the folder. */
static const char *describe_missing(const char *name, const char *folder, struct base_arena *arena) {
    char error[CONFIG_ERROR_BYTES];
    unsigned count;
    const char **names = config_list(folder, arena, &count, error, sizeof error);
    if (!names)
        return base_arena_copy(arena, error, strlen(error));
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < count; i++)
        base_nearest_offer(&nearest, names[i]);
    if (nearest.best)
        return base_arena_printf(arena, "no machine '%s'; did you mean '%s'?", name, nearest.best);
    return base_arena_printf(
        arena, "no machine '%s'; 'heddle list machines' lists them, and a file's name ends in .yaml", name);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* Names a machine after its file, if that is a valid name. */
static void name_after_file(struct config_machine *machine, const char *path, struct base_arena *arena) {
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    const char *dot = strrchr(start, '.');
    const char *name = base_arena_copy(arena, start, dot ? (size_t)(dot - start) : strlen(start));
    const struct config_option *option = config_find_option("name");
    char error[CONFIG_ERROR_BYTES];
    if (!config_store(machine, option, name, error, sizeof error))
        config_store(machine, option, option->initial, error, sizeof error);
}

static bool read_source(struct config_reading *reading, const struct base_source *source) {
    reading->has_name = false;
    if (!config_read_yaml(reading, source))
        return false;
    if (!reading->has_name)
        name_after_file(reading->machine, source->name, reading->arena);
    return true;
}

bool config_extend(struct config_reading *reading, const struct base_source *source, size_t at, const char *name) {
    struct config_reading base = *reading;
    struct base_source base_source;
    const char *path, *slash = strrchr(source->name, '/');
    if (++base.depth == MOST_FILES)
        return base_diag_error_at(reading->diag, source, at, "more than %d files extend each other; is there a cycle?",
                                  MOST_FILES);
    if (!config_is_path(name))
        path = base_arena_printf(reading->arena, "%s/%s.yaml", reading->folder, name);
    else if (name[0] == '/' || !slash)
        path = name;
    else
        path = base_arena_printf(reading->arena, "%.*s/%s", (int)(slash - source->name), source->name, name);
    if (!config_is_path(name) && access(path, F_OK) != 0)
        return base_diag_error_at(reading->diag, source, at, "%s",
                                  describe_missing(name, reading->folder, reading->arena));
    struct base_diag diag = {0};
    if (!base_source_read(&base_source, reading->arena, path, &diag))
        return base_diag_error_at(reading->diag, source, at, "cannot read '%s'", path);
    if (!read_source(&base, &base_source))
        return false;
    memset(reading->machine->description, 0,
           sizeof reading->machine->description); /* it describes the machine that was extended */
    return true;
}

/* Copies a diagnostic in the form of this module's messages: no newline at the end, and no "error: " without a
 * position.
 */
static bool copy_diag(const struct base_diag *diag, char *error, size_t error_bytes) {
    const char *text = diag->text;
    if (diag->position.line == 0 && strncmp(text, "error: ", 7) == 0)
        text += 7;
    size_t length = strlen(text);
    return config_error(error, error_bytes, "%.*s", (int)(length - (length && text[length - 1] == '\n')), text);
}

static bool load_source(struct config_reading *reading, const struct base_source *source, char *error,
                        size_t error_bytes) {
    config_defaults(reading->machine);
    return read_source(reading, source) || copy_diag(reading->diag, error, error_bytes);
}

static bool load_file(struct config_reading *reading, const char *name_or_path, char *error, size_t error_bytes) {
    const char *path = name_or_path;
    struct base_source source;
    if (!config_is_path(name_or_path)) {
        path = base_arena_printf(reading->arena, "%s/%s.yaml", reading->folder, name_or_path);
        if (access(path, F_OK) != 0)
            return config_error(error, error_bytes, "%s",
                                describe_missing(name_or_path, reading->folder, reading->arena));
    }
    if (!base_source_read(&source, reading->arena, path, reading->diag))
        return copy_diag(reading->diag, error, error_bytes);
    return load_source(reading, &source, error, error_bytes);
}

bool config_load(struct config_machine *machine, const char *name_or_path, const char *folder, char *error,
                 size_t error_bytes) {
    struct base_arena arena = {0};
    struct base_diag diag = {0};
    struct config_reading reading = {.machine = machine, .arena = &arena, .diag = &diag, .folder = folder};
    bool is_good = load_file(&reading, name_or_path, error, error_bytes);
    base_arena_free(&arena);
    return is_good;
}

bool config_load_text(struct config_machine *machine, const char *text, const char *name, const char *folder,
                      char *error, size_t error_bytes) {
    struct base_arena arena = {0};
    struct base_diag diag = {0};
    struct config_reading reading = {.machine = machine, .arena = &arena, .diag = &diag, .folder = folder};
    struct base_source source = {.name = name, .text = text, .length = strlen(text)};
    bool is_good = load_source(&reading, &source, error, error_bytes);
    base_arena_free(&arena);
    return is_good;
}
