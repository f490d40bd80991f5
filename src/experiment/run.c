/* Runs the runs of a plan that the store does not have. A run is stored the moment it ends, so that an interrupt, or
 * the end of this process, loses only the runs in progress. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "experiment/plan.h"
#include "experiment/run_file.h"
#include "program/estimate.h"
#include "program/progress.h"

/* ---- Examples ---------------------------------------------------------------------------------------------------- */

/* Too short to be stored. */
static int run_example(struct experiment_trial *trial) {
    struct sched_example_run run;
    const struct sched_ops *ops;
    void *options;
    char error[512];
    if (!sched_parse(trial->stored.scheduler, &ops, &options, error, sizeof error))
        return command_fail(COMMAND_ERROR, "%s", error);
    bool has_ended = sched_example_run(trial->settings.example, ops, options, &run);
    free(options);
    if (!has_ended)
        return command_fail(COMMAND_ERROR, "the example did not end with %s", trial->stored.scheduler);
    json_t *issued = json_array();
    for (uint32_t i = 0; i < run.cycles; i++)
        json_array_append_new(issued, json_integer(run.issued[i]));
    trial->result = json_pack("{s:{s:i, s:i}, s:o}", "total", "cycles", (int)run.cycles, "stalls",
                              (int)(run.cycles - run.n_issued), "issued", issued);
    return COMMAND_DONE;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

struct runner {
    const struct experiment_plan *plan;
    struct experiment_store *store; /* NULL: results become files in the folder */
    const char *folder;
    struct experiment_trial **trial; /* of each job */
    struct program_job *job;
    struct base_arena *arena;
};

static void make_job(struct program_job *job, struct experiment_trial *trial, const struct experiment_plan *plan) {
    struct report_target *shown = BASE_ARENA_NEW(plan->arena, struct report_target);
    *shown = program_report_target(&trial->target);
    job->execution = (struct program_execution){
        .program = trial->program,
        .place = &plan->place,
        .arguments = trial->arguments,
        .target = &trial->target,
        .sample_cycles = trial->settings.sample_cycles,
        .records_threads = trial->settings.records_threads,
        .draws = trial->settings.is_estimated ? PROGRAM_ESTIMATE_DRAWS : 0,
        .keeps_errors = true,
        .is_apart = true,
        .output = PROGRAM_OUTPUT_DROPPED,
    };
    job->run.size = *trial->stored.size ? trial->stored.size : NULL;
    job->run.target = shown;
}

static char *statistics_text(const struct report_run *run) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        abort();
    report_write_summary(file, run);
    fclose(file);
    return text;
}

/* The simulator was rebuilt during the runs: it is not known which build made their results. */
static bool is_rebuilt(const struct experiment_plan *plan) {
    struct stat now;
    return stat(plan->library, &now) != 0 || now.st_ino != plan->built.st_ino ||
           now.st_mtim.tv_sec != plan->built.st_mtim.tv_sec || now.st_mtim.tv_nsec != plan->built.st_mtim.tv_nsec;
}

/* Stores a run without a fault; a failed run may succeed the next time. */
static bool keep(void *context, struct program_job *job) {
    struct runner *runner = context;
    struct experiment_trial *trial = runner->trial[job - runner->job];
    if (!program_is_finished(job))
        return true;
    if (is_rebuilt(runner->plan)) {
        command_fail(COMMAND_ERROR, "the simulator was rebuilt during this run, which is not kept: start again");
        return false;
    }
    if (job->status == COMMAND_DONE && trial->settings.is_estimated)
        program_estimate_once(job, runner->arena);
    if (job->status != COMMAND_DONE || !job->run.has_results) {
        trial->failure = job->run.error ? job->run.error : "the program never called the CUDA driver";
        return !runner->folder || experiment_run_file_write_failure(runner->folder, &trial->stored, trial->failure);
    }
    job->run.is_checked = job->execution.program.kind == PROGRAM_WORKLOAD;
    char *text = statistics_text(&job->run);
    trial->stored.statistics = text;
    trial->stored.seconds = job->cpu_seconds;
    bool is_kept = runner->folder ? experiment_run_file_write(runner->folder, &trial->stored)
                                  : experiment_store_add(runner->store, &trial->stored);
    trial->stored.statistics = NULL;
    trial->result = json_loads(text, 0, NULL);
    free(text);
    return is_kept;
}

static int report_failures(const struct runner *runner, unsigned n_jobs) {
    int worst = COMMAND_DONE;
    for (unsigned i = 0; i < n_jobs; i++) {
        const struct experiment_trial *trial = runner->trial[i];
        if (!trial->failure)
            continue;
        command_fail(COMMAND_ERROR, "%s %s on %s with %s and %s: %s", trial->program.name, trial->stored.arguments,
                     trial->stored.machine, trial->stored.scheduler, trial->stored.divergence, trial->failure);
        if (worst != COMMAND_CHECK_FAILED)
            worst = runner->job[i].status == COMMAND_DONE ? COMMAND_ERROR : runner->job[i].status;
    }
    return worst;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct experiment_trial *trial) {
    return !trial->result && !trial->refusal && !trial->settings.example;
}

static void find_result(struct experiment_trial *trial, struct experiment_store *store) {
    struct base_arena scratch = {0};
    const char *text = experiment_store_find(store, &trial->stored, &scratch);
    trial->result = text ? json_loads(text, 0, NULL) : NULL;
    base_arena_free(&scratch);
}

/* Another process may have run it meanwhile. */
static bool is_still_needed(void *context, struct program_job *job) {
    struct runner *runner = context;
    struct experiment_trial *trial = runner->trial[job - runner->job];
    find_result(trial, runner->store);
    return !trial->result;
}

int experiment_find_results(struct experiment_plan *plan, struct experiment_store *store, bool is_forced) {
    for (unsigned i = 0; i < plan->n_trials; i++) {
        struct experiment_trial *trial = plan->trial[i];
        if (trial->settings.example) {
            int status = run_example(trial);
            if (status != COMMAND_DONE)
                return status;
        } else if (!trial->refusal && !is_forced) {
            find_result(trial, store);
        }
    }
    return COMMAND_DONE;
}

struct candidate {
    struct experiment_trial *trial;
    double seconds; /* that it will probably take; INFINITY: not known */
    unsigned number;
};

/* Longest first, so that at the end no processor waits for a long run; unknown ones may be long. */
static int compare_candidates(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void make_jobs(struct program_jobs *jobs, struct runner *runner) {
    const struct experiment_plan *plan = runner->plan;
    struct candidate *candidate = BASE_ARENA_ARRAY(plan->arena, struct candidate, plan->n_trials);
    for (unsigned i = 0; i < plan->n_trials; i++)
        if (is_wanted(plan->trial[i])) {
            double seconds = runner->store ? experiment_store_seconds(runner->store, &plan->trial[i]->stored) : 0;
            candidate[jobs->count] = (struct candidate){plan->trial[i], seconds > 0 ? seconds : INFINITY, i};
            jobs->count++;
        }
    qsort(candidate, jobs->count, sizeof *candidate, compare_candidates);
    for (unsigned i = 0; i < jobs->count; i++) {
        runner->trial[i] = candidate[i].trial;
        make_job(&jobs->job[i], candidate[i].trial, plan);
        jobs->job[i].expected_seconds = isfinite(candidate[i].seconds) ? candidate[i].seconds : 0;
    }
}

int experiment_run_plan(struct experiment_plan *plan, struct experiment_store *store,
                        const struct experiment_plan_options *options) {
    int status = options->folder ? COMMAND_DONE : experiment_find_results(plan, store, options->is_forced);
    if (status != COMMAND_DONE)
        return status;
    struct runner runner = {
        .plan = plan,
        .store = store,
        .folder = options->folder,
        .trial = BASE_ARENA_ARRAY(plan->arena, struct experiment_trial *, plan->n_trials),
        .job = BASE_ARENA_ARRAY(plan->arena, struct program_job, plan->n_trials),
        .arena = plan->arena,
    };
    struct program_jobs jobs = {.job = runner.job,
                                .at_once = options->at_once,
                                .is_needed = options->is_forced || options->folder ? NULL : is_still_needed,
                                .ended = keep,
                                .keeper = &runner,
                                .time_limit_seconds = options->time_limit_seconds,
                                .arena = plan->arena};
    make_jobs(&jobs, &runner);
    if (jobs.count == 0)
        return COMMAND_DONE;
    status = program_execute_with_progress(&jobs, options->is_quiet);
    if (status != COMMAND_DONE)
        return status;
    status = report_failures(&runner, jobs.count);
    if (jobs.interrupt)
        return program_report_interrupt(&jobs);
    return jobs.is_cancelled ? COMMAND_ERROR : status;
}
