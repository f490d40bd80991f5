/* Array jobs. See slurm.h. */
#define _GNU_SOURCE
#include "experiment/slurm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "command/command.h"

enum {
    MOST_TASKS = 1000,   /* Slurm's default for MaxArraySize is 1001 */
    MOST_FAILURES = 10,  /* that the status shows */
    KEY_CHARACTERS = 32, /* of experiment_store_key() */
};

enum run_state { RUN_DONE, RUN_RUNNING, RUN_WAITING, RUN_FAILED, RUN_MISSING, N_RUN_STATES };

static const char *const state_names[N_RUN_STATES] = {"done", "running", "waiting", "failed", "not submitted"};

const char *experiment_slurm_folder(const char *store, struct base_arena *arena) {
    return base_arena_printf(arena, "%s.slurm", store);
}

/* ---- Slurm's commands -------------------------------------------------------------------------------------------- */

static const char *quote(const char *text, struct base_arena *arena) {
    const char *quoted = "'";
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = strchrnul(at, '\'');
        quoted = base_arena_printf(arena, "%s%.*s%s", quoted, (int)(end - at), at, *end ? "'\\''" : "");
    }
    return base_arena_printf(arena, "%s'", quoted);
}

/* Runs a shell command. Returns its output, or NULL if it failed; *status is its exit status. */
static char *output_of(const char *command, int *status, struct base_arena *arena) {
    char *text = NULL, buffer[4096];
    size_t length = 0;
    FILE *copy = open_memstream(&text, &length), *pipe = popen(command, "r");
    if (!copy || !pipe)
        abort();
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        fwrite(buffer, 1, n, copy);
    int ended = pclose(pipe);
    fclose(copy);
    char *kept = base_arena_copy(arena, text, length);
    free(text);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    return *status == 0 ? kept : NULL;
}

static int fail_command(const char *name, int status) {
    if (status == 127)
        return command_fail(COMMAND_ERROR, "--slurm needs Slurm's commands, and there is no %s here", name);
    return command_fail(COMMAND_ERROR, "%s failed with status %d", name, status);
}

/* ---- Keys and the state of their runs
 * -------------------------------------------------------------------------------- */

struct key {
    char text[KEY_CHARACTERS + 1];
    enum run_state state;
};

struct keys {
    struct key *item;
    unsigned count, room;
};

static void add_key(struct keys *keys, const char *text, size_t length, enum run_state state) {
    if (keys->count == keys->room) {
        keys->room = keys->room ? 2 * keys->room : 256;
        keys->item = realloc(keys->item, keys->room * sizeof *keys->item);
        if (!keys->item)
            abort();
    }
    struct key *key = &keys->item[keys->count++];
    key->state = state;
    snprintf(key->text, sizeof key->text, "%.*s", (int)length, text);
}

static int compare_keys(const void *a, const void *b) {
    return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

/* Adds the keys of one task. */
static void add_line(struct keys *keys, const char *line, enum run_state state) {
    for (const char *at = line; *(at += strspn(at, " \n")); at += strcspn(at, " \n"))
        add_key(keys, at, strcspn(at, " \n"), state);
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

static const char *job_file(const char *folder, unsigned number, const char *ending, struct base_arena *arena) {
    return base_arena_printf(arena, "%s/job-%u.%s", folder, number, ending);
}

static void remove_job(const char *folder, unsigned number, struct base_arena *arena) {
    unlink(job_file(folder, number, "id", arena));
    unlink(job_file(folder, number, "runs", arena));
    unlink(job_file(folder, number, "sh", arena));
}

/* The states of a job's tasks as squeue has them; tasks that have ended are RUN_MISSING. */
static int ask_slurm(const char *id, enum run_state task[MOST_TASKS], bool *is_alive, struct base_arena *arena) {
    int status;
    for (unsigned i = 0; i < MOST_TASKS; i++)
        task[i] = RUN_MISSING;
    *is_alive = false;
    const char *text =
        output_of(base_arena_printf(arena, "squeue -h -r -j %s -o '%%K %%t' 2>/dev/null", id), &status, arena);
    if (!text)
        return status == 127 ? fail_command("squeue", status) : COMMAND_DONE; /* Slurm has forgotten the job */
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        unsigned number;
        char state[8];
        if (sscanf(line, "%u %7s", &number, state) != 2 || number >= MOST_TASKS)
            continue;
        task[number] = strcmp(state, "PD") == 0 || strcmp(state, "CF") == 0 ? RUN_WAITING : RUN_RUNNING;
        *is_alive = true;
    }
    return COMMAND_DONE;
}

static int read_job(const char *folder, unsigned number, struct keys *keys, struct base_arena *arena) {
    enum run_state task[MOST_TASKS];
    char id[64] = "", *line = NULL;
    size_t room = 0;
    bool is_alive = false;
    FILE *file = fopen(job_file(folder, number, "id", arena), "r");
    if (!file || !fgets(id, sizeof id, file))
        id[0] = '\0';
    if (file)
        fclose(file);
    id[strcspn(id, "\n")] = '\0';
    if (strspn(id, "0123456789") != strlen(id))
        return command_fail(COMMAND_ERROR, "'%s' has no number of a job", job_file(folder, number, "id", arena));
    int status = *id ? ask_slurm(id, task, &is_alive, arena) : COMMAND_DONE;
    if (status != COMMAND_DONE)
        return status;
    if (!is_alive) {
        remove_job(folder, number, arena);
        return COMMAND_DONE;
    }
    file = fopen(job_file(folder, number, "runs", arena), "r");
    for (unsigned i = 0; file && i < MOST_TASKS && getline(&line, &room, file) >= 0; i++)
        if (task[i] != RUN_MISSING)
            add_line(keys, line, task[i]);
    free(line);
    if (file)
        fclose(file);
    return COMMAND_DONE;
}

/* Finds the runs in the folder's jobs, and those that failed. */
static int read_folder(const char *folder, struct keys *keys, struct base_arena *arena) {
    int status = COMMAND_DONE;
    DIR *directory = opendir(folder);
    if (!directory)
        return errno == ENOENT ? COMMAND_DONE
                               : command_fail(COMMAND_ERROR, "cannot read '%s': %s", folder, strerror(errno));
    for (struct dirent *entry; status == COMMAND_DONE && (entry = readdir(directory));) {
        unsigned number;
        char ending[8] = "";
        const char *dot = strchr(entry->d_name, '.');
        if (sscanf(entry->d_name, "job-%u.%7s", &number, ending) == 2 && strcmp(ending, "runs") == 0)
            status = read_job(folder, number, keys, arena);
        else if (dot && strcmp(dot, ".failed") == 0)
            add_key(keys, entry->d_name, (size_t)(dot - entry->d_name), RUN_FAILED);
    }
    closedir(directory);
    if (keys->count)
        qsort(keys->item, keys->count, sizeof *keys->item, compare_keys);
    return status;
}

/* Of a run that failed before and is in a job again, the job counts. */
static enum run_state state_of(const struct experiment_trial *trial, const char *text, const struct keys *keys) {
    enum run_state state = RUN_MISSING;
    struct key wanted;
    if (trial->result)
        return RUN_DONE;
    snprintf(wanted.text, sizeof wanted.text, "%s", text);
    const struct key *found =
        keys->count ? bsearch(&wanted, keys->item, keys->count, sizeof wanted, compare_keys) : NULL;
    for (; found && found > keys->item && compare_keys(found - 1, &wanted) == 0; found--)
        continue;
    for (; found && found < keys->item + keys->count && compare_keys(found, &wanted) == 0; found++)
        state = found->state < state ? found->state : state;
    return state;
}

static bool is_run(const struct experiment_trial *trial) { return !trial->refusal && !trial->settings.example; }

/* ---- Submission -------------------------------------------------------------------------------------------------- */

/* Makes a file that does not exist yet; NULL after one line. */
static FILE *make_runs(const char *folder, unsigned *number, struct base_arena *arena) {
    for (*number = 1;; ++*number) {
        const char *path = job_file(folder, *number, "runs", arena);
        int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0)
            return fdopen(descriptor, "w");
        if (errno != EEXIST) {
            command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
            return NULL;
        }
    }
}

static bool write_script(const char *path, const char *runs, const struct experiment_plan *plan,
                         const struct experiment_slurm *slurm) {
    char heddle[4096];
    ssize_t length = readlink("/proc/self/exe", heddle, sizeof heddle - 1);
    FILE *file = fopen(path, "w");
    if (length < 0 || !file) {
        command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
        return false;
    }
    heddle[length] = '\0';
    fprintf(file, "#!/bin/sh\nexec %s", quote(heddle, plan->arena));
    for (unsigned i = 0; i < slurm->again->count; i++)
        fprintf(file, " %s", quote(slurm->again->item[i], plan->arena));
    fprintf(file, " --slurm-task %s\n", quote(runs, plan->arena));
    return fclose(file) == 0;
}

static int call_sbatch(const struct experiment_plan *plan, const struct experiment_slurm *slurm, unsigned number,
                       unsigned n_tasks, char id[64]) {
    struct base_arena *arena = plan->arena;
    const char *script = job_file(slurm->folder, number, "sh", arena);
    const char *runs = job_file(slurm->folder, number, "runs", arena);
    int status;
    if (!write_script(script, runs, plan, slurm))
        return COMMAND_ERROR;
    const char *text = output_of(
        base_arena_printf(arena, "sbatch --parsable --job-name=heddle --array=0-%u --output=%s %s %s", n_tasks - 1,
                          quote(base_arena_printf(arena, "%s/%%A_%%a.log", slurm->folder), arena),
                          slurm->options ? slurm->options : "", quote(script, arena)),
        &status, arena);
    if (!text)
        return fail_command("sbatch", status);
    snprintf(id, 64, "%.*s", (int)strspn(text, "0123456789"), text);
    FILE *file = fopen(job_file(slurm->folder, number, "id", arena), "w");
    if (!file || fprintf(file, "%s\n", id) < 0 || fclose(file) != 0)
        return command_fail(COMMAND_ERROR, "cannot write '%s': %s", job_file(slurm->folder, number, "id", arena),
                            strerror(errno));
    return COMMAND_DONE;
}

static int submit(const struct experiment_plan *plan, const struct experiment_slurm *slurm, const char *const *key,
                  unsigned n_runs) {
    char id[64] = "";
    unsigned number, each = (n_runs + MOST_TASKS - 1) / MOST_TASKS, n_tasks = (n_runs + each - 1) / each;
    FILE *file = make_runs(slurm->folder, &number, plan->arena);
    if (!file)
        return COMMAND_ERROR;
    for (unsigned i = 0; i < n_runs; i++) {
        unlink(base_arena_printf(plan->arena, "%s/%s.failed", slurm->folder, key[i]));
        fprintf(file, "%s%c", key[i], i % each == each - 1 || i == n_runs - 1 ? '\n' : ' ');
    }
    int status = fclose(file) == 0 ? COMMAND_DONE : command_fail(COMMAND_ERROR, "cannot write in '%s'", slurm->folder);
    if (status == COMMAND_DONE)
        status = call_sbatch(plan, slurm, number, n_tasks, id);
    if (status != COMMAND_DONE)
        remove_job(slurm->folder, number, plan->arena);
    else
        printf("submitted %u runs as job %s, %u tasks; the same command with --status says how far they are\n", n_runs,
               id, n_tasks);
    return status;
}

int experiment_slurm_submit(struct experiment_plan *plan, const struct experiment_slurm *slurm, bool *is_complete) {
    struct keys keys = {0};
    const char **missing = BASE_ARENA_ARRAY(plan->arena, const char *, plan->n_trials);
    unsigned n_missing = 0, n_done = 0, n_runs = 0;
    if (mkdir(slurm->folder, 0777) != 0 && errno != EEXIST)
        return command_fail(COMMAND_ERROR, "cannot make the folder '%s': %s", slurm->folder, strerror(errno));
    int status = read_folder(slurm->folder, &keys, plan->arena);
    for (unsigned i = 0; i < plan->n_trials && status == COMMAND_DONE; i++) {
        if (!is_run(plan->trial[i]))
            continue;
        const char *key = experiment_store_key(&plan->trial[i]->stored, plan->arena);
        enum run_state state = state_of(plan->trial[i], key, &keys);
        n_runs++;
        n_done += state == RUN_DONE;
        if (state == RUN_FAILED || state == RUN_MISSING)
            missing[n_missing++] = key;
    }
    free(keys.item);
    *is_complete = n_done == n_runs;
    if (status != COMMAND_DONE || *is_complete)
        return status;
    if (n_missing)
        return submit(plan, slurm, missing, n_missing);
    printf("all %u runs that are not done are in jobs already; --status says how far they are\n", n_runs - n_done);
    return COMMAND_DONE;
}

/* ---- Status ------------------------------------------------------------------------------------------------------ */

static void print_failure(const struct experiment_slurm *slurm, const char *key, struct base_arena *arena) {
    char line[1024];
    FILE *file = fopen(base_arena_printf(arena, "%s/%s.failed", slurm->folder, key), "r");
    if (file && fgets(line, sizeof line, file))
        printf("failed: %s", line);
    if (file)
        fclose(file);
}

int experiment_slurm_print_status(struct experiment_plan *plan, const struct experiment_slurm *slurm) {
    struct keys keys = {0};
    unsigned count[N_RUN_STATES] = {0}, n_runs = 0;
    int status = read_folder(slurm->folder, &keys, plan->arena);
    for (unsigned i = 0; i < plan->n_trials && status == COMMAND_DONE; i++) {
        if (!is_run(plan->trial[i]))
            continue;
        const char *key = experiment_store_key(&plan->trial[i]->stored, plan->arena);
        enum run_state state = state_of(plan->trial[i], key, &keys);
        n_runs++;
        if (++count[state] <= MOST_FAILURES && state == RUN_FAILED)
            print_failure(slurm, key, plan->arena);
    }
    free(keys.item);
    if (status != COMMAND_DONE)
        return status;
    printf("%u runs:", n_runs);
    for (unsigned i = 0; i < N_RUN_STATES; i++)
        printf("%s %u %s", i ? "," : "", count[i], state_names[i]);
    putchar('\n');
    return COMMAND_DONE;
}

/* ---- A task ------------------------------------------------------------------------------------------------------ */

int experiment_slurm_choose(struct experiment_plan *plan, const char *runs) {
    const char *text = getenv("SLURM_ARRAY_TASK_ID");
    uint64_t number;
    if (!text || !base_parse_u64(text, &number))
        return command_fail(COMMAND_USAGE, "--slurm-task is for tasks of an array job, which have SLURM_ARRAY_TASK_ID");
    FILE *file = fopen(runs, "r");
    if (!file)
        return command_fail(COMMAND_ERROR, "cannot read '%s': %s", runs, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    bool has_line = true;
    for (uint64_t i = 0; i <= number && has_line; i++)
        has_line = getline(&line, &room, file) >= 0;
    fclose(file);
    unsigned n_trials = 0;
    for (unsigned i = 0; i < plan->n_trials && has_line; i++)
        if (is_run(plan->trial[i]) && strstr(line, experiment_store_key(&plan->trial[i]->stored, plan->arena)))
            plan->trial[n_trials++] = plan->trial[i];
    free(line);
    plan->n_trials = n_trials;
    return n_trials ? COMMAND_DONE
                    : command_fail(COMMAND_ERROR,
                                   "line %s of '%s' has no run of this plan: the simulator, a program or the "
                                   "experiment has changed since it was submitted",
                                   text, runs);
}
