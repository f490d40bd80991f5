/* Runs of an experiment: processes of their own, a line of progress on a terminal. */
#include "cli/experiments/trials.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/program/program_options.h"
#include "cli/program/progress.h"

/* The words of a text, spaces between. */
static struct cli_words split(const char *text, struct base_arena *arena) {
    struct cli_words words = {.item = BASE_ARENA_ARRAY(arena, const char *, strlen(text) + 1)};
    for (const char *at = text; *(at += strspn(at, " ")); at += strcspn(at, " "))
        words.item[words.count++] = base_arena_copy(arena, at, strcspn(at, " "));
    return words;
}

static int make_job(struct cli_job *job, const struct cli_trial *trial, const struct cli_results *results,
                    const struct cli_place *place) {
    struct base_arena *arena = results->arena;
    struct cli_program_options options = CLI_PROGRAM_DEFAULTS;
    options.size = results->size;
    struct cli_machine_options machine = {.machine = trial->machine, .set = split(trial->changes, arena)};
    struct cli_target *target = BASE_ARENA_ARRAY(arena, struct cli_target, 1);
    struct report_target *shown = BASE_ARENA_ARRAY(arena, struct report_target, 1);
    struct cli_words words = split(trial->arguments, arena);
    struct cli_program program;
    int status;
    if (!cli_find_program(&program, trial->workload, place, arena, &status))
        return status;
    status = cli_make_target(target, &machine, NULL, NULL, 0, arena);
    if (status != CLI_DONE)
        return status;
    *shown = cli_report_target(target);
    job->execution = (struct cli_execution){
        .program = program,
        .place = place,
        .arguments = cli_program_arguments(&program, &options, &words, arena),
        .target = target,
        .keeps_errors = true,
        .is_apart = true,
        .output = CLI_OUTPUT_DROPPED,
    };
    job->run.size = cli_program_size(&program, &options);
    job->run.target = shown;
    return CLI_DONE;
}

int cli_run_trials(const struct cli_results *results, struct cli_trial *trial, unsigned count) {
    struct cli_place place;
    struct cli_jobs jobs = {.job = BASE_ARENA_ARRAY(results->arena, struct cli_job, count),
                            .count = count,
                            .at_once = results->n_threads,
                            .arena = results->arena};
    if (!cli_find_place(&place, results->arena))
        return CLI_ERROR;
    for (unsigned i = 0; i < count; i++) {
        int status = make_job(&jobs.job[i], &trial[i], results, &place);
        if (status != CLI_DONE)
            return status;
    }
    int status = cli_execute_with_progress(&jobs, results->is_quiet);
    if (status != CLI_DONE)
        return status;
    if (jobs.interrupt)
        return cli_report_interrupt(&jobs);
    for (unsigned i = 0; i < count; i++) {
        const struct cli_job *job = &jobs.job[i];
        if (job->status != CLI_DONE)
            return cli_fail(job->status, "%s %s on %s: %s", trial[i].workload, trial[i].arguments, trial[i].machine,
                            job->run.error);
        trial[i].counters = job->run.total.counters;
    }
    return CLI_DONE;
}
