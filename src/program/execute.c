/* Runs programs: a private folder for the results, the configuration, the process, its measurements, the verdict. */
#define _GNU_SOURCE
#include "program/execute.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/defect.h"
#include "command/command.h"
#include "config/plugin.h"
#include "program/run_folder.h"

/* ---- The driver's configuration ---------------------------------------------------------------------------------- */

#define JSON_BOOLEAN(value) json_boolean(value)
#define JSON_U32(value) json_integer((json_int_t)(value))
#define JSON_U64(value) json_integer((json_int_t)(value))
#define JSON_SECONDS(value) json_real(value)
#define JSON_TEXT(value) json_string(value)
#define JSON_MACHINE(value) json_string(value)

json_t *program_driver_config(const struct program_execution *execution) {
    json_t *object = json_object();
#define CUDA_KEY_IF(key, type, member, least, most, value, is_given)                                                   \
    if (is_given)                                                                                                      \
        json_object_set_new(object, key, JSON_##type(value));
#define CUDA_KEY(key, type, member, least, most, value) CUDA_KEY_IF(key, type, member, least, most, value, value)
#define CUDA_DRIVER_KEY(key, type, member, least, most)
#include "cuda/process/keys.def"
    return object;
}

static const char *config_text(const struct program_execution *execution, struct base_arena *arena) {
    json_t *object = program_driver_config(execution);
    char *text = json_dumps(object, JSON_COMPACT);
    const char *copy = base_arena_copy(arena, text, strlen(text));
    free(text);
    json_decref(object);
    return copy;
}

static const char *const *program_arguments(const struct program_execution *execution, struct base_arena *arena) {
    const struct command_words *words = &execution->arguments;
    const char **argv = BASE_ARENA_ARRAY(arena, const char *, (size_t)words->count + 2);
    argv[0] = execution->program.kind == PROGRAM_EXECUTABLE ? execution->program.name : execution->program.executable;
    for (unsigned i = 0; i < words->count; i++)
        argv[i + 1] = words->item[i];
    return argv;
}

/* ---- How it ended ------------------------------------------------------------------------------------------------ */

/* Returns the limit that ended a launch, or NULL. */
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

/* Returns the user's own code in the run, as --scheduler names it, or NULL if there is none. */
static const char *plugin_of(const struct program_execution *execution) {
    const struct config_machine *machine = execution->target ? &execution->target->machine : NULL;
    const char *const name[] = {machine ? machine->scheduler : "", machine ? machine->divergence : "",
                                machine ? machine->dram.policy : ""};
    for (unsigned i = 0; i < sizeof name / sizeof name[0]; i++)
        if (config_plugin_file_length(name[i]))
            return name[i];
    return NULL;
}

static int stop(struct report_run *run, const char *by, const char *error) {
    run->stopped = by;
    run->error = error;
    return COMMAND_STOPPED;
}

/* Returns the text to add about a program that had to be killed. */
static const char *end_text(const struct program_execution *execution, const struct program_end *end,
                            struct base_arena *arena) {
    const char *plugin = plugin_of(execution);
    if (!end->is_killed)
        return "";
    return plugin ? base_arena_printf(arena, "; it did not end and was killed: a hook of %s may never return", plugin)
                  : "; it did not end and was killed";
}

/* Returns the first error that a GPU would not return, or NULL. */
static const struct report_error *first_refusal(const struct report_run *run) {
    for (unsigned i = 0; i < run->n_errors; i++)
        if (run->errors[i].is_unsupported)
            return &run->errors[i];
    return NULL;
}

/* Returns the first error of a kernel that failed while it ran, or NULL. */
static const struct report_error *first_fault(const struct report_run *run) {
    static const char *const fault[] = {"CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_MISALIGNED_ADDRESS",
                                        "CUDA_ERROR_ASSERT",          "CUDA_ERROR_LAUNCH_FAILED",
                                        "CUDA_ERROR_LAUNCH_TIMEOUT",  "CUDA_ERROR_HARDWARE_STACK_ERROR",
                                        "CUDA_ERROR_INVALID_PC"};
    for (unsigned i = 0; i < run->n_errors; i++)
        for (unsigned k = 0; k < sizeof fault / sizeof *fault; k++)
            if (strcmp(run->errors[i].result, fault[k]) == 0)
                return &run->errors[i];
    return NULL;
}

/* What --memcheck has found. */
static const char *findings_text(const struct report_run *run, struct base_arena *arena) {
    const char *reads = base_arena_printf(arena, "%" PRIu64 " uninitialised read%s", run->n_uninitialised,
                                          run->n_uninitialised == 1 ? "" : "s");
    const char *races =
        base_arena_printf(arena, "%" PRIu64 " race%s in shared memory", run->n_races, run->n_races == 1 ? "" : "s");
    return !run->n_races ? reads : !run->n_uninitialised ? races : base_arena_printf(arena, "%s and %s", reads, races);
}

/* A program that ignores a GPU's error and exits with success does so on purpose: some test what the device can do. But
 * it cannot know about a feature that is missing here, and a kernel that failed has computed nothing. */
static int judge_exit(const struct program_execution *execution, int code, struct report_run *run,
                      struct base_arena *arena, bool *is_said) {
    bool is_ours = execution->program.kind != PROGRAM_EXECUTABLE;
    const struct report_error *first = run->n_errors ? &run->errors[0] : NULL;
    const struct report_error *refusal = first_refusal(run);
    const struct report_error *fault = is_ours || execution->keeps_going ? NULL : first_fault(run);
    if (code == 0 && fault) {
        run->error = base_arena_printf(
            arena, "%s ended with exit status 0 although a kernel failed: %s (%s); --keep-going accepts that",
            run->program, fault->message, fault->result);
        return COMMAND_ERROR;
    }
    if (code == 0 && (run->n_uninitialised || run->n_races)) {
        run->error = base_arena_printf(arena, "%s ended with exit status 0, but --memcheck found %s", run->program,
                                       findings_text(run, arena));
        return COMMAND_ERROR;
    }
    if (code == 0 && (is_ours || execution->keeps_going || !refusal))
        return COMMAND_DONE;
    if (code == 0) {
        run->error = base_arena_printf(
            arena,
            "%s ended with exit status 0 although something that it used is missing here, first: %s (%s); --keep-going "
            "accepts that",
            run->program, refusal->message, refusal->result);
        return COMMAND_ERROR;
    }
    if (code == COMMAND_CHECK_FAILED && execution->program.kind == PROGRAM_WORKLOAD) {
        run->is_wrong = true;
        run->error = "the check failed: the result differs from the reference";
        return COMMAND_CHECK_FAILED;
    }
    run->error = base_arena_printf(arena, "%s ended with exit status %d", run->program, code);
    if (first && !is_ours)
        run->error =
            base_arena_printf(arena, "%s; what failed first: %s (%s)", run->error, first->message, first->result);
    *is_said = is_ours;
    if (is_ours && code == COMMAND_USAGE)
        return COMMAND_USAGE;
    return code == COMMAND_CHECK_FAILED ? COMMAND_CHECK_FAILED : COMMAND_ERROR;
}

/* Reports an assertion of Heddle that failed in the program's process, with the run, which a bug report needs. */
static int judge_defect(const struct program_execution *execution, const char *failure, struct report_run *run,
                        struct base_arena *arena) {
    const struct config_machine *machine = execution->target ? &execution->target->machine : NULL;
    const char *plugin = plugin_of(execution);
    char line[BASE_DEFECT_BYTES];
    const char *what = machine ? base_arena_printf(arena, "%s on %s with %s and %s, ", run->program, machine->name,
                                                   machine->scheduler, machine->divergence)
                               : base_arena_printf(arena, "%s --functional, ", run->program);
    base_defect_line(line, sizeof line, failure, plugin ? base_arena_printf(arena, " or of %s", plugin) : "", what,
                     execution->n_threads > 1 ? "--threads 1 is the way round it" : "");
    run->error = base_arena_copy(arena, line, strlen(line));
    return COMMAND_ERROR;
}

static int judge(const struct program_execution *execution, const struct program_end *end, struct report_run *run,
                 struct base_arena *arena, bool *is_said) {
    const char *limit = limit_reached(run);
    if (end->interrupt)
        return stop(run, "interrupt",
                    base_arena_printf(arena, "stopped by %s%s", signal_text(end->interrupt, arena),
                                      end_text(execution, end, arena)));
    if (end->is_timed_out || (limit && strcmp(limit, "timeout") == 0))
        return stop(run, "timeout",
                    base_arena_printf(arena, "stopped after %g s%s", execution->timeout_seconds,
                                      end_text(execution, end, arena)));
    if (limit)
        return stop(run, limit,
                    base_arena_printf(arena, "stopped at the limit of %s",
                                      strcmp(limit, "max-cycles") == 0 ? "cycles" : "instructions"));
    if (WIFSIGNALED(end->wait_status)) {
        run->error = base_arena_printf(arena, "%s was ended by %s", run->program,
                                       signal_text(WTERMSIG(end->wait_status), arena));
        const char *plugin = plugin_of(execution);
        if (plugin)
            run->error =
                base_arena_printf(arena, "%s; 'heddle check %s' tries your own code in it", run->error, plugin);
        return COMMAND_ERROR;
    }
    return judge_exit(execution, WEXITSTATUS(end->wait_status), run, arena, is_said);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The driver may write beside the file and rename it, so the file has its own folder. */
static bool make_folder(struct program_job *job, const struct program_jobs *jobs) {
    job->folder = base_arena_printf(jobs->arena, "%s/%zu", jobs->folder, (size_t)(job - jobs->job));
    if (mkdir(job->folder, 0700) == 0)
        return true;
    job->run.error = base_arena_printf(jobs->arena, "cannot make a folder '%s': %s", job->folder, strerror(errno));
    return false;
}

/* A killed program may have left the driver's unfinished file there. */
static void remove_folder(const char *folder, struct base_arena *arena) {
    DIR *entries = opendir(folder);
    if (entries) {
        for (struct dirent *entry; (entry = readdir(entries));)
            unlink(base_arena_printf(arena, "%s/%s", folder, entry->d_name));
        closedir(entries);
    }
    rmdir(folder);
}

static const char *results_path(const struct program_job *job, struct base_arena *arena) {
    return base_arena_printf(arena, "%s/results.json", job->folder);
}

static const char *errors_path(const struct program_job *job, struct base_arena *arena) {
    return job->execution.keeps_errors ? base_arena_printf(arena, "%s/errors", job->folder) : NULL;
}

/* Returns the first line of a program's standard error, for a one-line message, or NULL if there is none. */
static const char *first_line(const char *path, struct base_arena *arena) {
    char line[512] = "";
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file))
        line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
    static const char prefix[] = "heddle: ";
    const char *text = strncmp(line, prefix, strlen(prefix)) == 0 ? line + strlen(prefix) : line;
    return *text ? base_arena_copy(arena, text, strlen(text)) : NULL;
}

/* Returns whether the driver could not write the results (cuda/process/results.c). */
static bool is_lost(const struct program_job *job, struct base_arena *arena) {
    const char *path = results_path(job, arena);
    return access(base_arena_printf(arena, "%s.lost", path), F_OK) == 0 ||
           access(base_arena_printf(arena, "%s.threads.lost", path), F_OK) == 0;
}

/* Returns whether the timeline is incomplete, for example because the disk is full. A program that launches nothing
 * makes none. */
static bool is_trace_cut(const struct program_execution *execution) {
    FILE *file = execution->trace.path ? fopen(execution->trace.path, "re") : NULL;
    char end[3] = "";
    if (!file)
        return false;
    bool is_whole =
        fseek(file, -3, SEEK_END) == 0 && fread(end, 1, sizeof end, file) == 3 && memcmp(end, "]}\n", 3) == 0;
    fclose(file);
    return !is_whole;
}

static int read_and_judge(struct program_job *job, const struct program_end *end, struct base_arena *arena) {
    struct report_run *run = &job->run;
    if (end->start_error) {
        run->error = base_arena_printf(
            arena, "cannot run '%s': %s%s", job->execution.program.executable, strerror(end->start_error),
            end->start_error == ENOENT ? "; the loader that it names is missing: was it built for another system?"
                                       : "");
        return COMMAND_ERROR;
    }
    struct base_diag diag = {0};
    bool is_read = report_read(run, results_path(job, arena), arena, &diag);
    const char *defect = first_line(base_arena_printf(arena, "%s" BASE_DEFECT_ENDING, results_path(job, arena)), arena);
    if (defect) {
        job->is_explained = true;
        return judge_defect(&job->execution, defect, run, arena);
    }
    if (!is_read) {
        diag.text[strcspn(diag.text, "\n")] = '\0';
        run->error = base_arena_copy(arena, diag.text, strlen(diag.text));
        return COMMAND_ERROR;
    }
    int status = judge(&job->execution, end, run, arena, &job->is_said);
    if (status == COMMAND_DONE && (is_lost(job, arena) || is_trace_cut(&job->execution))) {
        run->error =
            base_arena_printf(arena, "what %s measured could not be written; TMPDIR names the place", run->program);
        job->is_said = true; /* by the driver, with the reason */
        return COMMAND_ERROR;
    }
    return status;
}

/* ---- Several ----------------------------------------------------------------------------------------------------- */

static bool start_job(void *context, unsigned i, struct program_child *child) {
    struct program_jobs *jobs = context;
    struct program_job *job = &jobs->job[i];
    const struct program_execution *execution = &job->execution;
    if (jobs->is_cancelled)
        return false;
    job->run.program = execution->program.name;
    if (jobs->is_needed && !jobs->is_needed(jobs->keeper, job)) {
        job->has_ended = true;
        jobs->n_ended++;
        return false;
    }
    job->started = program_now_seconds();
    if (!make_folder(job, jobs)) {
        job->has_ended = true;
        job->status = COMMAND_ERROR;
        jobs->n_ended++;
        return false;
    }
    *child = (struct program_child){
        .path = execution->program.executable,
        .argv = program_arguments(execution, jobs->arena),
        .cuda = execution->place->cuda,
        .preload = execution->program.kind == PROGRAM_EXECUTABLE ? execution->place->preload : NULL,
        .config = config_text(execution, jobs->arena),
        .results = results_path(job, jobs->arena),
        .errors = errors_path(job, jobs->arena),
        .timeout_seconds = execution->timeout_seconds,
        .output = execution->output,
        .is_apart = execution->is_apart,
        .has_fixed_addresses = execution->checkpoint,
    };
    return true;
}

/* The standard error of a failed program may contain the reason, but was not shown. */
static void quote_program(struct program_job *job, struct base_arena *arena) {
    const char *line = first_line(errors_path(job, arena), arena);
    struct report_run *run = &job->run;
    if (line && job->is_said)
        run->error = line;
    else if (line && run->error && !run->is_wrong && !run->stopped)
        run->error = base_arena_printf(arena, "%s: %s", run->error, line);
    job->is_said = false;
}

static void end_job(void *context, unsigned i, const struct program_end *end) {
    struct program_jobs *jobs = context;
    struct program_job *job = &jobs->job[i];
    job->run.peak_bytes = end->peak_bytes;
    job->cpu_seconds = end->cpu_seconds;
    job->is_killed = end->is_killed;
    job->status = read_and_judge(job, end, jobs->arena);
    if (job->execution.keeps_errors)
        quote_program(job, jobs->arena);
    remove_folder(job->folder, jobs->arena);
    job->seconds = program_now_seconds() - job->started;
    job->has_ended = true;
    jobs->n_ended++;
    if (jobs->ended && !jobs->ended(jobs->keeper, job))
        jobs->is_cancelled = true;
}

static void wait_for_jobs(void *context) {
    struct program_jobs *jobs = context;
    jobs->progress(jobs->context, jobs);
}

/* The fixed set is too small for more than 1024. */
unsigned program_count_processors(void) {
    cpu_set_t set;
    long n_online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    return n_online > 0 && n_online < PROGRAM_MOST_THREADS ? (unsigned)n_online : PROGRAM_MOST_THREADS;
}

int program_execute_all(struct program_jobs *jobs) {
    struct program_run_folder folder;
    if (!program_run_folder_make(&folder, jobs->arena))
        return COMMAND_ERROR;
    jobs->folder = folder.path;
    if (!jobs->at_once)
        jobs->at_once = program_count_processors();
    struct program_children children = {
        .count = jobs->count,
        .at_once = jobs->at_once < jobs->count ? jobs->at_once : jobs->count,
        .context = jobs,
        .start = start_job,
        .end = end_job,
        .wait = jobs->progress ? wait_for_jobs : NULL,
        .time_limit_seconds = jobs->time_limit_seconds,
    };
    jobs->interrupt = program_children_run(&children);
    program_run_folder_remove(&folder, jobs->arena);
    return COMMAND_DONE;
}

bool program_is_finished(const struct program_job *job) {
    return job->has_ended && !(job->run.stopped && strcmp(job->run.stopped, "interrupt") == 0);
}

int program_report_interrupt(const struct program_jobs *jobs) {
    unsigned n_finished = 0;
    for (unsigned i = 0; i < jobs->count; i++)
        n_finished += program_is_finished(&jobs->job[i]);
    if (jobs->interrupt == SIGALRM)
        return command_fail(COMMAND_STOPPED, "stopped at the time limit of %g s; %u of %u runs had ended",
                            jobs->time_limit_seconds, n_finished, jobs->count);
    return command_fail(COMMAND_STOPPED, "stopped by SIG%s; %u of %u runs had ended", sigabbrev_np(jobs->interrupt),
                        n_finished, jobs->count);
}

int program_execute(const struct program_execution *execution, struct report_run *run, struct base_arena *arena,
                    bool *is_said) {
    struct program_job job = {.execution = *execution, .run = *run};
    struct program_jobs jobs = {.job = &job, .count = 1, .at_once = 1, .arena = arena};
    int status = program_execute_all(&jobs);
    *run = job.run;
    *is_said = job.is_said || status != COMMAND_DONE;
    return status == COMMAND_DONE ? job.status : status;
}
