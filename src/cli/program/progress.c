/* A progress line for several programs side by side. It names the one that has been running longest, since the others
 * wait for it. */
#include "cli/program/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/output.h"

double cli_seconds_left(const struct cli_jobs *jobs, double now) {
    double ended = 0, work = 0;
    for (unsigned i = 0; i < jobs->count; i++)
        ended += jobs->job[i].has_ended ? jobs->job[i].seconds : 0;
    if (!jobs->n_ended)
        return -1;
    double mean = ended / jobs->n_ended;
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct cli_job *job = &jobs->job[i];
        if (!job->has_ended)
            work += job->started > 0 ? fmax(mean - (now - job->started), 0) : mean;
    }
    unsigned n_left = jobs->count - jobs->n_ended;
    return n_left ? work / fmin(n_left, jobs->at_once) : 0;
}

static bool is_running(const struct cli_job *job) { return job->started > 0 && !job->has_ended; }

static const char *minutes(double seconds, struct base_arena *arena) {
    unsigned whole = (unsigned)(seconds + 0.5);
    return base_arena_printf(arena, "%u:%02u", whole / 60, whole % 60);
}

static const char *describe(const struct cli_job *job, struct base_arena *arena) {
    const struct report_target *target = job->run.target;
    const char *slash = strrchr(job->run.program, '/'), *name = slash ? slash + 1 : job->run.program;
    return target ? base_arena_printf(arena, "%s, %s, %s, %s", name, target->machine, target->scheduler,
                                      target->divergence)
                  : name;
}

const char *cli_progress_line(const struct cli_jobs *jobs, double now, unsigned columns, struct base_arena *arena) {
    const struct cli_job *oldest = NULL;
    unsigned n_running = 0;
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct cli_job *job = &jobs->job[i];
        n_running += is_running(job);
        if (is_running(job) && (!oldest || job->started < oldest->started))
            oldest = job;
    }
    double left = cli_seconds_left(jobs, now);
    char *line = base_arena_printf(arena, "heddle: %u of %u runs", jobs->n_ended, jobs->count);
    if (left >= 0)
        line = base_arena_printf(arena, "%s, about %s left", line, minutes(left, arena));
    if (oldest)
        line = base_arena_printf(arena, "%s; %u running, longest: %s, %s", line, n_running, describe(oldest, arena),
                                 minutes(now - oldest->started, arena));
    if (strlen(line) > columns)
        line[columns] = '\0';
    return line;
}

static void show(void *context, const struct cli_jobs *jobs) {
    struct base_arena *scratch = context;
    fprintf(stderr, "\r\033[K%s", cli_progress_line(jobs, cli_now_seconds(), cli_columns(stderr), scratch));
    base_arena_reset(scratch);
}

int cli_execute_with_progress(struct cli_jobs *jobs, bool is_quiet) {
    if (is_quiet || !isatty(STDERR_FILENO))
        return cli_execute_all(jobs);
    struct base_arena scratch = {0};
    jobs->progress = show;
    jobs->context = &scratch;
    int status = cli_execute_all(jobs);
    fputs("\r\033[K", stderr);
    base_arena_free(&scratch);
    return status;
}
