/* --estimate: a program runs two times or more. The first run counts: all launches are executed functionally, and their
 * accesses pass through the tags of the machine's caches. report/sample.c then draws a sample of the launches. The
 * second run times these; the others are functional again, and those before a timed launch warm the caches for it. If
 * the launches deviate too much for the wanted error, a further run times more of them.
 *
 * Every run makes the same launches with the same values, because functional and timed launches compute the same. A
 * program whose launches depend on the time of day, or on its input from a pipe, cannot be estimated. */
#define _GNU_SOURCE
#include "program/estimate.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "program/progress.h"
#include "program/run_folder.h"

enum {
    MOST_PASSES = 5, /* with the one that counts */
    WARM_TIMES = 4,  /* launches before a timed one warm the caches until they have touched this many L2s of lines */
};

/* The runs of one program. */
struct set {
    struct program_job *job; /* n of them */
    unsigned n;
    struct program_job counting;
    struct report_sample sample;
    bool *was_timed;  /* by an earlier pass, per launch */
    const char *path; /* of the plan */
    bool is_open;     /* more launches have to be timed */
};

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static bool refuse_file(const struct set *set) {
    command_fail(COMMAND_ERROR, "cannot write '%s': %s", set->path, strerror(errno));
    return false;
}

static bool write_plan(const struct set *set, struct base_arena *arena) {
    const struct report_run *counted = &set->counting.run;
    const struct config_machine *machine = &set->counting.execution.target->machine;
    uint64_t enough = machine->l2.cache.is_present && machine->l2.cache.line_bytes
                          ? WARM_TIMES * (machine->l2.cache.size_bytes / machine->l2.cache.line_bytes)
                          : 0;
    bool *is_warm = BASE_ARENA_ARRAY(arena, bool, set->sample.n_launches);
    uint64_t touched = enough;
    for (unsigned i = set->sample.n_launches; i-- > 0;) {
        bool is_timed = set->sample.launch[i].is_chosen && !set->was_timed[i];
        if (!is_timed && touched < enough) {
            is_warm[i] = true;
            touched += counted->launch[i].touched_lines + 1;
        }
        touched = is_timed ? 0 : touched;
    }
    FILE *file = fopen(set->path, "w");
    bool is_good = file && fputs("untimed\n", file) >= 0;
    for (unsigned i = 0; is_good && i < set->sample.n_launches; i++) {
        bool is_timed = set->sample.launch[i].is_chosen && !set->was_timed[i];
        if (is_timed || is_warm[i])
            is_good = fprintf(file, "%u %s\n", i + 1, is_timed ? "timed" : "warm") > 0;
    }
    if (file)
        is_good &= fclose(file) == 0;
    return is_good || refuse_file(set);
}

/* Writes a plan in which all launches warm the caches. */
static bool write_first_plan(const struct set *set) {
    FILE *file = fopen(set->path, "w");
    bool is_good = file && fputs("warm\n", file) >= 0;
    if (file)
        is_good &= fclose(file) == 0;
    return is_good || refuse_file(set);
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* Executes these jobs with the limits and observers of `all`. */
static int execute(struct program_jobs *all, struct program_job *job, unsigned n, bool is_quiet) {
    struct program_jobs jobs = *all;
    jobs.job = job;
    jobs.count = n;
    jobs.n_ended = 0;
    int status = n > 1 ? program_execute_with_progress(&jobs, is_quiet) : program_execute_all(&jobs);
    all->interrupt = jobs.interrupt;
    return status;
}

static bool is_done(const struct program_job *job) { return job->has_ended && job->status == COMMAND_DONE; }

/* Gives the result of a run that failed to all runs of its program. */
static void pass_on(struct set *set, const struct program_job *failed) {
    for (unsigned i = 0; i < set->n; i++) {
        struct program_job *job = &set->job[i];
        struct report_run old = job->run;
        struct program_execution execution = job->execution;
        *job = *failed;
        job->execution = execution;
        job->run.target = old.target;
        job->run.size = old.size;
        job->run.shows_shapes = old.shows_shapes;
    }
}

static int count(struct program_jobs *jobs, struct set *sets, unsigned n_sets, bool is_quiet) {
    struct program_job *job = BASE_ARENA_ARRAY(jobs->arena, struct program_job, n_sets);
    for (unsigned i = 0; i < n_sets; i++) {
        if (!write_first_plan(&sets[i]))
            return COMMAND_ERROR;
        job[i] = sets[i].job[0];
        job[i].execution.plan = sets[i].path;
        job[i].execution.output = PROGRAM_OUTPUT_DROPPED;
        job[i].execution.is_apart = true;
        job[i].execution.keeps_errors = true;
    }
    int status = execute(jobs, job, n_sets, is_quiet);
    for (unsigned i = 0; i < n_sets; i++) {
        struct set *set = &sets[i];
        set->counting = job[i];
        if (status != COMMAND_DONE || !is_done(&job[i])) {
            pass_on(set, &job[i]);
            continue;
        }
        set->sample = report_sample_new(&job[i].run, job[i].run.target, jobs->arena);
        set->was_timed = BASE_ARENA_ARRAY(jobs->arena, bool, set->sample.n_launches);
        set->is_open = true;
    }
    return status;
}

/* Keeps what this pass has timed, and the rest of what earlier ones have. */
static void merge(struct program_job *job, const struct program_job *pass, const struct set *set, bool is_first) {
    struct report_run old = job->run;
    double cpu_seconds = job->cpu_seconds, host_seconds = old.host_seconds;
    struct program_execution execution = job->execution;
    *job = *pass;
    job->execution = execution;
    if (is_first || !is_done(pass) || job->run.n_launches != old.n_launches)
        return;
    job->cpu_seconds += cpu_seconds;
    job->run.host_seconds += host_seconds;
    for (unsigned i = 0; i < old.n_launches; i++)
        if (set->was_timed[i])
            job->run.launch[i] = old.launch[i];
}

/* Times what is planned of the programs whose sets are open. */
static int time_sample(struct program_jobs *jobs, struct set *sets, unsigned n_sets, bool is_first, bool is_quiet) {
    struct program_job *job = BASE_ARENA_ARRAY(jobs->arena, struct program_job, jobs->count);
    unsigned n = 0;
    for (unsigned i = 0; i < n_sets; i++) {
        if (sets[i].is_open && !write_plan(&sets[i], jobs->arena))
            return COMMAND_ERROR;
        for (unsigned k = 0; sets[i].is_open && k < sets[i].n; k++) {
            job[n] = sets[i].job[k];
            job[n].execution.plan = sets[i].path;
            job[n].run.launch = NULL;
            job[n].run.total = (struct report_kernel){0};
            if (!is_first) {
                job[n].execution.output = PROGRAM_OUTPUT_DROPPED;
                job[n].execution.is_apart = true;
                job[n].execution.keeps_errors = true;
            }
            n++;
        }
    }
    int status = n ? execute(jobs, job, n, is_quiet) : COMMAND_DONE;
    for (unsigned i = 0, at = 0; status == COMMAND_DONE && i < n_sets; i++) {
        if (!sets[i].is_open)
            continue;
        for (unsigned k = 0; k < sets[i].n; k++)
            merge(&sets[i].job[k], &job[at++], &sets[i], is_first);
        for (unsigned k = 0; k < sets[i].sample.n_launches; k++)
            sets[i].was_timed[k] |= sets[i].sample.launch[k].is_chosen;
    }
    return status;
}

/* Decides which launches the next pass times. Returns false if none. */
static bool look_for_more(struct set *sets, unsigned n_sets, double error, struct base_arena *arena) {
    bool has_more = false;
    for (unsigned i = 0; i < n_sets; i++) {
        unsigned n_added = 0;
        for (unsigned k = 0; sets[i].is_open && k < sets[i].n; k++)
            if (is_done(&sets[i].job[k]) && sets[i].job[k].run.n_launches == sets[i].sample.n_launches)
                n_added += report_sample_more(&sets[i].sample, &sets[i].job[k].run, error, arena);
        sets[i].is_open = n_added > 0;
        has_more |= n_added > 0;
    }
    return has_more;
}

static void finish(struct set *set, unsigned n_runs, struct base_arena *arena) {
    for (unsigned k = 0; k < set->n; k++) {
        struct program_job *job = &set->job[k];
        if (!is_done(job) || !set->sample.n_launches)
            continue;
        if (!report_sample_estimate(&set->sample, &set->counting.run, n_runs, &job->run, arena)) {
            job->status = COMMAND_ERROR;
            job->run.error = base_arena_printf(
                arena, "%s made other launches when it ran again; --estimate needs a program that repeats its launches",
                job->run.program);
        }
    }
}

/* Runs the passes. The plans are in a folder of their own. */
static int run_passes(struct program_jobs *jobs, struct set *sets, unsigned n_sets, double error, bool is_quiet) {
    unsigned n_runs = 1;
    int status = count(jobs, sets, n_sets, is_quiet);
    for (bool has_more = true; status == COMMAND_DONE && !jobs->interrupt && has_more && n_runs < MOST_PASSES;) {
        n_runs++;
        status = time_sample(jobs, sets, n_sets, n_runs == 2, is_quiet);
        has_more = status == COMMAND_DONE && look_for_more(sets, n_sets, error, jobs->arena);
    }
    for (unsigned i = 0; i < n_sets && status == COMMAND_DONE; i++)
        finish(&sets[i], n_runs, jobs->arena);
    return status;
}

int program_estimate_all(struct program_jobs *jobs, unsigned n_together, double error, bool is_quiet,
                         struct report_sample *sample) {
    unsigned n_sets = jobs->count / n_together;
    struct set *sets = BASE_ARENA_ARRAY(jobs->arena, struct set, n_sets);
    struct program_run_folder folder;
    if (!program_run_folder_make(&folder, jobs->arena))
        return COMMAND_ERROR;
    for (unsigned i = 0; i < n_sets; i++) {
        sets[i].job = &jobs->job[i * n_together];
        sets[i].n = n_together;
        sets[i].path = base_arena_printf(jobs->arena, "%s/plan-%u", folder.path, i);
    }
    int status = run_passes(jobs, sets, n_sets, error, is_quiet);
    for (unsigned i = 0; i < n_sets; i++) {
        if (sample)
            sample[i] = sets[i].sample;
        unlink(sets[i].path);
    }
    program_run_folder_remove(&folder, jobs->arena);
    return status;
}

int program_estimate(const struct program_execution *execution, double error, struct report_run *run,
                     struct base_arena *arena, bool *is_said) {
    struct program_job job = {.execution = *execution, .run = *run};
    struct program_jobs jobs = {.job = &job, .count = 1, .at_once = 1, .arena = arena};
    int status = program_estimate_all(&jobs, 1, error, true, NULL);
    *run = job.run;
    *is_said = job.is_said || status != COMMAND_DONE;
    return status == COMMAND_DONE ? job.status : status;
}
