/* Determines the meaning of the word PROGRAM: a bundled workload, a PTX file, an executable. A bundled name wins over a
 * file of that name in the current folder; ./NAME names the file. If a name without a slash is not a file there, it is
 * looked up in PATH, as in a shell. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "program/execute.h"
#include "program/workloads.h"

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool refuse_name(const char *name, int *status) {
    const char *nearest = program_nearest_workload(name);
    if (nearest)
        *status = command_fail(COMMAND_USAGE, "no workload and no file '%s'; did you mean '%s'?", name, nearest);
    else if (strchr(name, '/') || strchr(name, '.'))
        *status = command_fail(COMMAND_ERROR, "cannot find '%s'", name);
    else
        *status = command_fail(COMMAND_USAGE,
                               "no workload and no file '%s'; 'heddle list workloads' shows the workloads", name);
    return false;
}

static bool refuse_file(const char *name, const char *reason, int *status) {
    *status = command_fail(COMMAND_ERROR, "cannot run '%s': %s", name, reason);
    return false;
}

static bool check_file(const char *name, int *status) {
    struct stat about = {0};
    if (stat(name, &about) != 0)
        return errno == ENOENT ? refuse_name(name, status) : refuse_file(name, strerror(errno), status);
    if (!S_ISDIR(about.st_mode))
        return true;
    *status = command_fail(COMMAND_ERROR, "'%s' is a folder: name the program in it", name);
    return false;
}

static bool check_ptx(const char *name, int *status) {
    if (!check_file(name, status))
        return false;
    return access(name, R_OK) == 0 || refuse_file(name, strerror(errno), status);
}

static bool check_executable(const char *name, const struct program_place *place, struct base_arena *arena,
                             int *status) {
    if (!check_file(name, status))
        return false;
    const char *reason = program_why_not_runnable(name, place, arena);
    if (reason) {
        *status = command_fail(COMMAND_ERROR, "%s", reason);
        return false;
    }
    return access(name, X_OK) == 0 || refuse_file(name, strerror(errno), status);
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Returns the first executable of this name in a folder of PATH, or NULL. An empty entry is the current folder. */
static const char *find_in_path(const char *name, struct base_arena *arena) {
    const char *folders = getenv("PATH");
    if (!folders)
        folders = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(folders, ":");
        const char *path =
            base_arena_printf(arena, "%.*s/%s", (int)(length ? length : 1), length ? folders : ".", name);
        if (is_file(path) && access(path, X_OK) == 0)
            return path;
        if (!folders[length])
            return NULL;
        folders += length + 1;
    }
}

/* Returns the file to start for a name that is no workload. */
static const char *find_executable(const char *name, struct base_arena *arena) {
    const char *found = strchr(name, '/') || is_file(name) ? NULL : find_in_path(name, arena);
    return found ? found : strchr(name, '/') ? name : base_arena_printf(arena, "./%s", name);
}

bool program_has_own_options(const char *name) { return !program_find_workload(name) && !ends_with(name, ".ptx"); }

bool program_find(struct program *program, const char *name, const struct program_place *place,
                  struct base_arena *arena, int *status) {
    const struct program_workload *workload = program_find_workload(name);
    program->name = name;
    if (workload) {
        program->kind = PROGRAM_WORKLOAD;
        program->executable = base_arena_printf(arena, "%s/%s", place->workloads, workload->name);
        if (access(program->executable, X_OK) == 0)
            return true;
        *status =
            command_fail(COMMAND_ERROR, "the workload '%s' is not built: %s is missing", name, program->executable);
        return false;
    }
    if (ends_with(name, ".ptx")) {
        program->kind = PROGRAM_PTX;
        program->executable = place->ptx_run;
        return check_ptx(name, status);
    }
    program->kind = PROGRAM_EXECUTABLE;
    program->executable = find_executable(name, arena);
    bool is_of_path = !strchr(name, '/') && !is_file(name) && is_file(program->executable);
    return check_executable(is_of_path ? program->executable : name, place, arena, status);
}
