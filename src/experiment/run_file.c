/* Runs as files. See run_file.h. */
#include "experiment/run_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "command/command.h"

struct member {
    const char *name;
    const char **text;
};

enum { N_MEMBERS = 11 };

static void list_members(struct experiment_stored_run *run, struct member member[N_MEMBERS]) {
    const struct member all[N_MEMBERS] = {
        {"version", &run->version},
        {"program", &run->program},
        {"input", &run->input},
        {"arguments", &run->arguments},
        {"size", &run->size},
        {"machine", &run->machine},
        {"scheduler", &run->scheduler},
        {"divergence", &run->divergence},
        {"configuration", &run->configuration},
        {"records", &run->records},
        {"statistics", &run->statistics},
    };
    memcpy(member, all, sizeof all);
}

/* Another task may write the same run at the same time: each has a name of its own until the file is whole. */
static bool write_whole(const char *folder, const char *name, const char *text, struct base_arena *arena) {
    const char *path = base_arena_printf(arena, "%s/%s", folder, name);
    const char *part = base_arena_printf(arena, "%s.%ld.part", path, (long)getpid());
    FILE *file = fopen(part, "w");
    bool is_good = file && fputs(text, file) != EOF && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file && fclose(file) != 0)
        is_good = false;
    if (is_good && rename(part, path) == 0)
        return true;
    command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
    unlink(part);
    return false;
}

bool experiment_run_file_write(const char *folder, const struct experiment_stored_run *run) {
    struct base_arena arena = {0};
    struct experiment_stored_run copy = *run;
    struct member member[N_MEMBERS];
    json_t *object = json_object();
    list_members(&copy, member);
    for (unsigned i = 0; i < N_MEMBERS; i++)
        json_object_set_new(object, member[i].name, json_string(*member[i].text));
    json_object_set_new(object, "reads_device", json_boolean(run->reads_device));
    json_object_set_new(object, "seconds", json_real(run->seconds));
    char *text = json_dumps(object, JSON_COMPACT);
    bool is_written =
        write_whole(folder, base_arena_printf(&arena, "%s.json", experiment_store_key(run, &arena)), text, &arena);
    free(text);
    json_decref(object);
    base_arena_free(&arena);
    return is_written;
}

bool experiment_run_file_write_failure(const char *folder, const struct experiment_stored_run *run, const char *why) {
    struct base_arena arena = {0};
    const char *text = base_arena_printf(&arena, "%s %s on %s with %s and %s: %s\n", run->program, run->arguments,
                                         run->machine, run->scheduler, run->divergence, why);
    bool is_written =
        write_whole(folder, base_arena_printf(&arena, "%s.failed", experiment_store_key(run, &arena)), text, &arena);
    base_arena_free(&arena);
    return is_written;
}

static int merge(const char *path, struct experiment_store *store) {
    struct experiment_stored_run run = {0};
    struct member member[N_MEMBERS];
    json_error_t error;
    json_t *object = json_load_file(path, 0, &error);
    bool is_good = json_is_object(object);
    list_members(&run, member);
    for (unsigned i = 0; i < N_MEMBERS && is_good; i++) {
        *member[i].text = json_string_value(json_object_get(object, member[i].name));
        is_good = *member[i].text != NULL;
    }
    run.reads_device = json_is_true(json_object_get(object, "reads_device"));
    run.seconds = json_number_value(json_object_get(object, "seconds"));
    int status = !is_good ? command_fail(COMMAND_ERROR, "'%s' is not the result of a run", path)
                 : experiment_store_add(store, &run) ? COMMAND_DONE
                                                     : COMMAND_ERROR;
    json_decref(object);
    if (status == COMMAND_DONE && unlink(path) != 0)
        status = command_fail(COMMAND_ERROR, "cannot remove '%s': %s", path, strerror(errno));
    return status;
}

int experiment_run_files_merge(const char *folder, struct experiment_store *store, unsigned *n_merged) {
    int status = COMMAND_DONE;
    DIR *directory = opendir(folder);
    *n_merged = 0;
    if (!directory)
        return errno == ENOENT ? COMMAND_DONE
                               : command_fail(COMMAND_ERROR, "cannot read '%s': %s", folder, strerror(errno));
    for (struct dirent *entry; status == COMMAND_DONE && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        struct base_arena arena = {0};
        status = merge(base_arena_printf(&arena, "%s/%s", folder, entry->d_name), store);
        *n_merged += status == COMMAND_DONE;
        base_arena_free(&arena);
    }
    closedir(directory);
    return status;
}
