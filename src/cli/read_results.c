/* Reads results for commands that show them again. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "experiment/stored_runs.h"

json_t *cli_read_results(const char *path, const char *where, struct base_arena *arena) {
    if (experiment_is_database(path))
        return experiment_stored_runs_document(path, where, arena);
    json_error_t error;
    json_t *read = json_load_file(path, 0, &error), *first = json_array_get(read, 0);
    bool is_run = json_is_object(json_object_get(read, "total")) || json_is_array(json_object_get(read, "runs"));
    if (!read) {
        struct stat about;
        if (stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0)
            command_fail(COMMAND_ERROR, "'%s' is empty", path);
        else if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
            command_fail(COMMAND_ERROR, "'%s' is a folder, not results", path);
        else if (error.line < 0)
            command_fail(COMMAND_ERROR, "cannot read '%s': %s", path, strerror(errno));
        else
            command_fail(COMMAND_ERROR, "%s:%d:%d: not JSON: %s", path, error.line, error.column, error.text);
        return NULL;
    }
    if (json_is_array(json_object_get(first, "values")))
        return json_pack("{s:o}", "experiments", read);
    if (is_run)
        return read;
    json_decref(read);
    command_fail(COMMAND_ERROR, "'%s' has no results: a file from --json of run, compare, paper or sweep is expected",
                 path);
    return NULL;
}
