/* Determines the meaning of the word PROGRAM: a bundled workload, a PTX file, an executable. A bundled name wins over a
 * file of that name in the current folder; ./NAME names the file. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/program/execute.h"

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool refuse_name(const char *name, int *status) {
    const char *nearest = cli_nearest_workload(name);
    if (nearest)
        *status = cli_fail(CLI_USAGE, "no workload and no file '%s'; did you mean '%s'?", name, nearest);
    else if (strchr(name, '/') || strchr(name, '.'))
        *status = cli_fail(CLI_ERROR, "cannot find '%s'", name);
    else
        *status =
            cli_fail(CLI_USAGE, "no workload and no file '%s'; 'heddle list workloads' shows the workloads", name);
    return false;
}

static bool refuse_file(const char *name, const char *reason, int *status) {
    *status = cli_fail(CLI_ERROR, "cannot run '%s': %s", name, reason);
    return false;
}

static bool check_file(const char *name, int *status) {
    struct stat about = {0};
    if (stat(name, &about) != 0)
        return errno == ENOENT ? refuse_name(name, status) : refuse_file(name, strerror(errno), status);
    if (!S_ISDIR(about.st_mode))
        return true;
    *status = cli_fail(CLI_ERROR, "'%s' is a folder: name the program in it", name);
    return false;
}

static bool check_ptx(const char *name, int *status) {
    if (!check_file(name, status))
        return false;
    return access(name, R_OK) == 0 || refuse_file(name, strerror(errno), status);
}

static bool check_executable(const char *name, const struct cli_place *place, struct base_arena *arena, int *status) {
    if (!check_file(name, status))
        return false;
    const char *reason = cli_why_not_runnable(name, place, arena);
    if (reason) {
        *status = cli_fail(CLI_ERROR, "%s", reason);
        return false;
    }
    return access(name, X_OK) == 0 || refuse_file(name, strerror(errno), status);
}

bool cli_find_program(struct cli_program *program, const char *name, const struct cli_place *place,
                      struct base_arena *arena, int *status) {
    const struct cli_workload *workload = cli_find_workload(name);
    program->name = name;
    if (workload) {
        program->kind = CLI_PROGRAM_WORKLOAD;
        program->executable = base_arena_printf(arena, "%s/%s", place->workloads, workload->name);
        if (access(program->executable, X_OK) == 0)
            return true;
        *status = cli_fail(CLI_ERROR, "the workload '%s' is not built: %s is missing", name, program->executable);
        return false;
    }
    if (ends_with(name, ".ptx")) {
        program->kind = CLI_PROGRAM_PTX;
        program->executable = place->ptx_run;
        return check_ptx(name, status);
    }
    program->kind = CLI_PROGRAM_EXECUTABLE;
    program->executable = strchr(name, '/') ? name : base_arena_printf(arena, "./%s", name);
    return check_executable(name, place, arena, status);
}
