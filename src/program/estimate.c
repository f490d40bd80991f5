/* --estimate: the program runs once, functionally, while copies of its process time a sample of the sections of its
 * launches (gpu/sections.c), and report/sample.c estimates the rest. The sample grows while the program runs, where
 * sections deviate too much for the wanted error. Runs that are compared must time the same sections, so their samples
 * do not grow. If they deviate too much, all of them run again with larger samples. */
#include "program/estimate.h"

#include <math.h>

#include "command/command.h"
#include "program/progress.h"

enum { MOST_RUNS = 3 };

static const double margin = 1.3; /* the interval of the larger sample is itself uncertain */

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

/* n_runs: how often the program has run. */
static void estimate(struct program_job *job, unsigned n_runs, struct base_arena *arena) {
    if (!is_done(job) || !job->run.n_launches || report_sample_estimate(&job->run, n_runs, arena))
        return;
    job->status = COMMAND_ERROR;
    job->run.error = base_arena_printf(
        arena, "%s: no launch of some kernel could be timed, because its memory cannot be copied: see --estimate",
        job->run.program);
}

/* Runs the program of this job again, for a larger sample. */
static struct program_job again(const struct program_job *job, uint32_t draws) {
    struct program_job next = *job;
    next.execution.draws = draws;
    next.execution.output = PROGRAM_OUTPUT_DROPPED;
    next.execution.is_apart = true;
    next.execution.keeps_errors = true;
    next.run = (struct report_run){.program = job->run.program,
                                   .size = job->run.size,
                                   .target = job->run.target,
                                   .shows_shapes = job->run.shows_shapes};
    next.has_ended = false;
    return next;
}

/* Keeps the last run of a job, with the time that all took. */
static void keep(struct program_job *job, const struct program_job *last) {
    double cpu_seconds = job->cpu_seconds, host_seconds = job->run.host_seconds;
    struct program_execution execution = job->execution;
    *job = *last;
    job->execution = execution;
    job->cpu_seconds += cpu_seconds;
    job->run.host_seconds += host_seconds;
}

/* Returns how many sections of each segment the runs of one program need; as many as now if that is enough. */
static uint32_t draws_for(const struct program_job *job, unsigned n, uint32_t draws, double error) {
    double growth = 1;
    for (unsigned i = 0; i < n; i++)
        if (is_done(&job[i]))
            growth = fmax(growth, report_sample_growth(&job[i].run, error));
    return growth > 1 ? (uint32_t)ceil(margin * draws * growth) : draws;
}

/* Runs once more what needs a larger sample. Returns false if nothing does. */
static bool run_again(struct program_jobs *jobs, unsigned n_together, double error, unsigned n_runs, bool is_quiet,
                      uint32_t *draws, int *status) {
    struct program_job *job = BASE_ARENA_ARRAY(jobs->arena, struct program_job, jobs->count);
    unsigned *number = BASE_ARENA_ARRAY(jobs->arena, unsigned, jobs->count), n = 0;
    for (unsigned set = 0; set < jobs->count / n_together; set++) {
        uint32_t wanted = draws_for(&jobs->job[set * n_together], n_together, draws[set], error);
        for (unsigned i = set * n_together; wanted > draws[set] && i < (set + 1) * n_together; i++)
            if (is_done(&jobs->job[i])) {
                number[n] = i;
                job[n++] = again(&jobs->job[i], wanted);
            }
        draws[set] = wanted;
    }
    if (!n)
        return false;
    *status = execute(jobs, job, n, is_quiet);
    for (unsigned i = 0; i < n && *status == COMMAND_DONE; i++) {
        estimate(&job[i], n_runs, jobs->arena);
        keep(&jobs->job[number[i]], &job[i]);
    }
    return *status == COMMAND_DONE;
}

void program_estimate_once(struct program_job *job, struct base_arena *arena) { estimate(job, 1, arena); }

int program_estimate_all(struct program_jobs *jobs, unsigned n_together, double error, bool is_quiet) {
    uint32_t *draws = BASE_ARENA_ARRAY(jobs->arena, uint32_t, jobs->count);
    for (unsigned i = 0; i < jobs->count; i++) {
        jobs->job[i].execution.draws = draws[i] = PROGRAM_ESTIMATE_DRAWS;
        jobs->job[i].execution.draw_error = n_together > 1 ? 0 : error;
    }
    int status = execute(jobs, jobs->job, jobs->count, is_quiet);
    for (unsigned i = 0; i < jobs->count && status == COMMAND_DONE; i++)
        estimate(&jobs->job[i], 1, jobs->arena);
    for (unsigned n_runs = 2; n_together > 1 && status == COMMAND_DONE && !jobs->interrupt && n_runs <= MOST_RUNS;
         n_runs++)
        if (!run_again(jobs, n_together, error, n_runs, is_quiet, draws, &status))
            break;
    return status;
}

int program_estimate(const struct program_execution *execution, double error, struct report_run *run,
                     struct base_arena *arena, bool *is_said) {
    struct program_job job = {.execution = *execution, .run = *run};
    struct program_jobs jobs = {.job = &job, .count = 1, .at_once = 1, .arena = arena};
    int status = program_estimate_all(&jobs, 1, error, true);
    *run = job.run;
    *is_said = job.is_said || status != COMMAND_DONE;
    return status == COMMAND_DONE ? job.status : status;
}
