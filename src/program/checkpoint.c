/* The identity of a run is a JSON object in the checkpoint's file: {"build", "program": [name, hash], "arguments":
 * [...], "machine": [name, hash], "options": {...}}. It leaves out everything that never changes a result: host
 * threads, time limits, the amount of output. */
#define _GNU_SOURCE
#include "program/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/hash.h"
#include "command/command.h"
#include "gpu/checkpoint_file.h"

/* ---- The identity ------------------------------------------------------------------------------------------------ */

static bool hash_file(const char *path, uint64_t *hash) {
    enum { PIECE = 1 << 16 };
    static unsigned char piece[PIECE];
    FILE *file = fopen(path, "rb");
    size_t n;
    *hash = 0;
    if (!file)
        return false;
    while ((n = fread(piece, 1, sizeof piece, file)))
        *hash = base_hash(piece, n, *hash);
    bool is_good = !ferror(file);
    fclose(file);
    return is_good;
}

static json_t *hexadecimal(uint64_t number) { return json_sprintf("%016" PRIx64, number); }

static json_t *list_of(const struct command_words *words) {
    json_t *list = json_array();
    for (unsigned i = 0; i < words->count; i++) {
        json_t *text = json_string(words->item[i]);
        json_array_append_new(list, text ? text : hexadecimal(base_hash(words->item[i], strlen(words->item[i]), 0)));
    }
    return list;
}

static json_t *machine_of(const struct program_target *target) {
    if (!target)
        return json_pack("[s,s]", "none", "");
    uint64_t hash = base_hash(target->yaml, strlen(target->yaml), 0);
    hash = base_hash(target->machine.scheduler, strlen(target->machine.scheduler), hash);
    return json_pack("[s,o]", target->machine.name, hexadecimal(hash));
}

static json_t *options_of(const struct program_execution *execution) {
    static const char *const without_effect[] = {"threads",  "picks_threads", "timeout_seconds",
                                                 "progress", "verbose",       "interruptible",
                                                 "machine",  "scheduler",     "checkpoint"};
    json_t *options = program_driver_config(execution);
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++)
        json_object_del(options, without_effect[i]);
    return options;
}

/* Returns NULL after one line if a file cannot be read. */
static json_t *identify(const struct program_execution *execution, struct base_arena *arena) {
    const struct program *program = &execution->program;
    const char *driver = base_arena_printf(arena, "%s/libcuda.so.1", execution->place->cuda);
    const char *code = program->kind == PROGRAM_PTX ? program->name : program->executable;
    const char *slash = strrchr(program->name, '/'), *name = slash ? slash + 1 : program->name;
    uint64_t build_hash, program_hash;
    const char *unread = !hash_file(driver, &build_hash) ? driver : !hash_file(code, &program_hash) ? code : NULL;
    if (unread) {
        command_fail(COMMAND_ERROR, "cannot read '%s': %s", unread, strerror(errno));
        return NULL;
    }
    return json_pack("{s:o,s:[s,o],s:o,s:o,s:o}", "build", hexadecimal(build_hash), "program", name,
                     hexadecimal(program_hash), "arguments", list_of(&execution->arguments), "machine",
                     machine_of(execution->target), "options", options_of(execution));
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static const char *first_of(const json_t *identity, const char *key) {
    const char *text = json_string_value(json_array_get(json_object_get(identity, key), 0));
    return text ? text : "?";
}

static const char *text_of(const json_t *value, struct base_arena *arena) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    const char *copy = base_arena_copy(arena, text ? text : "?", text ? strlen(text) : 1);
    free(text);
    return copy;
}

static bool is_same(const json_t *a, const json_t *b, const char *key) {
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Refuses another program or machine, or another version of it. */
static int refuse_named(const char *path, const char *key, const json_t *kept, const json_t *now) {
    const char *before = first_of(kept, key), *name = first_of(now, key);
    if (strcmp(before, name) != 0)
        return command_fail(COMMAND_ERROR, "'%s' is a checkpoint of %s %s, not of %s", path, key, before, name);
    return command_fail(COMMAND_ERROR, "'%s' is a checkpoint of %s %s as it was before it changed", path, key, name);
}

static int compare(const char *path, const json_t *kept, const json_t *now, struct base_arena *arena) {
    if (!is_same(kept, now, "build"))
        return command_fail(COMMAND_ERROR, "'%s' was written by another build of heddle, which has to resume it", path);
    if (!is_same(kept, now, "program"))
        return refuse_named(path, "program", kept, now);
    if (!is_same(kept, now, "machine"))
        return refuse_named(path, "machine", kept, now);
    static const char *const others[] = {"arguments", "options"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!is_same(kept, now, others[i]))
            return command_fail(COMMAND_ERROR, "'%s' is a checkpoint of a run with other %s: %s, not %s", path,
                                others[i], text_of(json_object_get(kept, others[i]), arena),
                                text_of(json_object_get(now, others[i]), arena));
    return COMMAND_DONE;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int check_old(const char *path, const json_t *now, bool is_quiet, struct base_arena *arena) {
    char error[GPU_CHECKPOINT_ERROR];
    struct gpu_checkpoint_file *file = gpu_checkpoint_file_open(path, error);
    if (!file)
        return command_fail(COMMAND_ERROR, "%s", error);
    uint32_t n = gpu_checkpoint_file_count(file);
    json_t *kept = json_loads(gpu_checkpoint_file_identity(file), 0, NULL);
    int status =
        kept ? compare(path, kept, now, arena) : command_fail(COMMAND_ERROR, "'%s' is no checkpoint of heddle", path);
    json_decref(kept);
    gpu_checkpoint_file_close(file);
    if (status == COMMAND_DONE && !is_quiet)
        fprintf(stderr, "heddle: resuming '%s' after %" PRIu32 " launch%s\n", path, n, n == 1 ? "" : "es");
    return status;
}

static int make_new(const char *path, const json_t *now, struct base_arena *arena) {
    char error[GPU_CHECKPOINT_ERROR];
    return gpu_checkpoint_file_create(path, text_of(now, arena), error) ? COMMAND_DONE
                                                                        : command_fail(COMMAND_ERROR, "%s", error);
}

int program_open_checkpoint(const char *checkpoint, const char *resume, bool is_quiet,
                            struct program_execution *execution, struct base_arena *arena) {
    const char *path = resume ? resume : checkpoint;
    if (!path)
        return COMMAND_DONE;
    if (execution->trace.path || execution->records_threads || execution->records_lines)
        return command_fail(COMMAND_USAGE,
                            "a run with a checkpoint has no --trace, --branches, --lines, --thread-map or --html");
    if (checkpoint && resume && strcmp(checkpoint, resume) != 0)
        return command_fail(COMMAND_USAGE, "--resume adds to its file, so --checkpoint can only name the same file");
    bool exists = access(path, F_OK) == 0;
    if (!resume && exists)
        return command_fail(COMMAND_ERROR, "'%s' exists: continue it with --resume, or remove it to start a new run",
                            path);
    json_t *now = identify(execution, arena);
    if (!now)
        return COMMAND_ERROR;
    int status = exists || !checkpoint ? check_old(path, now, is_quiet, arena) : make_new(path, now, arena);
    json_decref(now);
    char absolute[PATH_MAX];
    if (status == COMMAND_DONE && !realpath(path, absolute))
        return command_fail(COMMAND_ERROR, "cannot open '%s': %s", path, strerror(errno));
    if (status == COMMAND_DONE)
        execution->checkpoint = base_arena_copy(arena, absolute, strlen(absolute));
    return status;
}
