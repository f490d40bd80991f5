/* One program from start to verdict: a private folder for its results, its configuration, the process, what it
 * measured. */
#define _GNU_SOURCE
#include "cli/execute.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/cli.h"

/* ---- What the driver is told ------------------------------------------------------------------------------------- */

static const char *config_text(const struct cli_execution *execution, struct base_arena *arena) {
    json_t *object = json_object();
    if (execution->max_instructions)
        json_object_set_new(object, "max_instructions", json_integer((json_int_t)execution->max_instructions));
    if (execution->timeout_seconds > 0)
        json_object_set_new(object, "timeout_seconds", json_real(execution->timeout_seconds));
    if (execution->shows_progress)
        json_object_set_new(object, "progress", json_true());
    if (execution->is_verbose)
        json_object_set_new(object, "verbose", json_true());
    json_object_set_new(object, "interruptible", json_true());
    char *text = json_dumps(object, JSON_COMPACT);
    const char *copy = base_arena_copy(arena, text, strlen(text));
    free(text);
    json_decref(object);
    return copy;
}

static const char *const *program_arguments(const struct cli_execution *execution, struct base_arena *arena) {
    const struct cli_words *words = &execution->arguments;
    const char **argv = BASE_ARENA_ARRAY(arena, const char *, (size_t)words->count + 2);
    argv[0] =
        execution->program.kind == CLI_PROGRAM_EXECUTABLE ? execution->program.name : execution->program.executable;
    for (unsigned i = 0; i < words->count; i++)
        argv[i + 1] = words->item[i];
    return argv;
}

/* ---- How it ended ------------------------------------------------------------------------------------------------ */

/* The limit that ended a launch, if one did. */
static const char *limit_reached(const struct report_run *run) {
    for (unsigned i = 0; i < run->n_errors; i++)
        if (run->errors[i].limit)
            return run->errors[i].limit;
    return NULL;
}

static const char *signal_text(int signal, struct base_arena *arena) {
    const char *name = sigabbrev_np(signal);
    return name ? base_arena_printf(arena, "SIG%s (%s)", name, sigdescr_np(signal))
                : base_arena_printf(arena, "signal %d", signal);
}

static int stop(struct report_run *run, const char *by, const char *error) {
    run->stopped = by;
    run->error = error;
    return CLI_STOPPED;
}

static int judge_exit(const struct cli_execution *execution, int code, struct report_run *run, struct base_arena *arena,
                      bool *is_said) {
    bool is_ours = execution->program.kind != CLI_PROGRAM_EXECUTABLE;
    if (code == 0)
        return CLI_DONE;
    if (code == CLI_CHECK_FAILED) {
        run->error = "the check failed: the result differs from the reference";
        return CLI_CHECK_FAILED;
    }
    run->error = base_arena_printf(arena, "%s ended with exit status %d", run->program, code);
    *is_said = is_ours;
    return is_ours && code == CLI_USAGE ? CLI_USAGE : CLI_ERROR;
}

static int judge(const struct cli_execution *execution, const struct cli_end *end, struct report_run *run,
                 struct base_arena *arena, bool *is_said) {
    const char *limit = limit_reached(run);
    if (end->interrupt)
        return stop(run, "interrupt", base_arena_printf(arena, "stopped by %s", signal_text(end->interrupt, arena)));
    if (end->is_timed_out || (limit && strcmp(limit, "timeout") == 0))
        return stop(run, "timeout", base_arena_printf(arena, "stopped after %g s", execution->timeout_seconds));
    if (limit)
        return stop(run, limit, "stopped at the limit of instructions");
    if (WIFSIGNALED(end->wait_status)) {
        run->error = base_arena_printf(arena, "%s was ended by %s", run->program,
                                       signal_text(WTERMSIG(end->wait_status), arena));
        return CLI_ERROR;
    }
    return judge_exit(execution, WEXITSTATUS(end->wait_status), run, arena, is_said);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The driver may write beside the file and rename, so the file has a folder to itself. */
static char *make_folder(struct base_arena *arena) {
    const char *parent = getenv("TMPDIR");
    char *path = base_arena_printf(arena, "%s/heddle-XXXXXX", parent && *parent ? parent : "/tmp");
    if (mkdtemp(path))
        return path;
    cli_fail(CLI_ERROR, "cannot make a folder %s: %s", path, strerror(errno));
    return NULL;
}

/* A program that was killed may have left the driver's file unfinished there. */
static void remove_folder(const char *folder, struct base_arena *arena) {
    DIR *entries = opendir(folder);
    if (entries) {
        for (struct dirent *entry; (entry = readdir(entries));)
            unlink(base_arena_printf(arena, "%s/%s", folder, entry->d_name));
        closedir(entries);
    }
    rmdir(folder);
}

static int run_in(const char *results, const struct cli_execution *execution, struct report_run *run,
                  struct base_arena *arena, bool *is_said) {
    struct cli_child child = {
        .path = execution->program.executable,
        .argv = program_arguments(execution, arena),
        .cuda = execution->place->cuda,
        .config = config_text(execution, arena),
        .results = results,
        .timeout_seconds = execution->timeout_seconds,
        .output = execution->output,
    };
    struct cli_end end = cli_child_run(&child);
    if (end.start_error) {
        run->error = base_arena_printf(arena, "cannot run '%s': %s", child.path, strerror(end.start_error));
        return CLI_ERROR;
    }
    struct base_diag diag = {0};
    if (!report_read(run, results, arena, &diag)) {
        diag.text[strcspn(diag.text, "\n")] = '\0';
        run->error = base_arena_copy(arena, diag.text, strlen(diag.text));
        return CLI_ERROR;
    }
    return judge(execution, &end, run, arena, is_said);
}

int cli_execute(const struct cli_execution *execution, struct report_run *run, struct base_arena *arena,
                bool *is_said) {
    const char *folder = make_folder(arena);
    *is_said = folder == NULL;
    run->program = execution->program.name;
    if (!folder)
        return CLI_ERROR;
    const char *results = base_arena_printf(arena, "%s/results.json", folder);
    int status = run_in(results, execution, run, arena, is_said);
    remove_folder(folder, arena);
    return status;
}
