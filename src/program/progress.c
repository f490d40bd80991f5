/* A progress line for several programs that run at once. It names the one that has been running longest, because the
 * others wait for it. */
#include "program/progress.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/output.h"

/* What is known from the runs that have ended. */
struct pace {
    double mean;  /* seconds of a run; below 0: none has ended */
    double scale; /* seconds for each expected one */
};

static struct pace find_pace(const struct program_jobs *jobs) {
    double seconds = 0, measured = 0, expected = 0;
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct program_job *job = &jobs->job[i];
        if (!job->has_ended)
            continue;
        seconds += job->seconds;
        if (job->expected_seconds > 0 && job->started > 0) {
            measured += job->seconds;
            expected += job->expected_seconds;
        }
    }
    return (struct pace){jobs->n_ended ? seconds / jobs->n_ended : -1, expected > 0 ? measured / expected : 1};
}

double program_seconds_left(const struct program_jobs *jobs, double now) {
    struct pace pace = find_pace(jobs);
    double work = 0, longest = 0;
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct program_job *job = &jobs->job[i];
        if (job->has_ended)
            continue;
        double takes = job->expected_seconds > 0 ? job->expected_seconds * pace.scale : pace.mean;
        if (takes < 0)
            return -1;
        double left = job->started > 0 ? fmax(takes - (now - job->started), 0) : takes;
        work += left;
        longest = fmax(longest, left);
    }
    unsigned n_left = jobs->count - jobs->n_ended;
    return n_left ? fmax(work / fmin(n_left, jobs->at_once), longest) : 0;
}

static bool is_running(const struct program_job *job) { return job->started > 0 && !job->has_ended; }

static const char *minutes(double seconds, struct base_arena *arena) {
    unsigned whole = (unsigned)(seconds + 0.5);
    return base_arena_printf(arena, "%u:%02u", whole / 60, whole % 60);
}

static const char *describe(const struct program_job *job, struct base_arena *arena) {
    const struct report_target *target = job->run.target;
    const char *slash = strrchr(job->run.program, '/'), *name = slash ? slash + 1 : job->run.program;
    return target ? base_arena_printf(arena, "%s, %s, %s, %s", name, target->machine, target->scheduler,
                                      target->divergence)
                  : name;
}

const char *program_progress_line(const struct program_jobs *jobs, double now, unsigned columns,
                                  struct base_arena *arena) {
    const struct program_job *oldest = NULL;
    unsigned n_running = 0;
    for (unsigned i = 0; i < jobs->count; i++) {
        const struct program_job *job = &jobs->job[i];
        n_running += is_running(job);
        if (is_running(job) && (!oldest || job->started < oldest->started))
            oldest = job;
    }
    double left = program_seconds_left(jobs, now);
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

struct display {
    bool is_terminal;
    double next; /* when a file or a pipe gets its next line */
    struct base_arena scratch;
};

static const double seconds_between_lines = 60;

static void show(void *context, const struct program_jobs *jobs) {
    struct display *display = context;
    double now = program_now_seconds();
    if (!display->is_terminal && now < display->next)
        return;
    display->next = now + seconds_between_lines;
    unsigned columns = display->is_terminal ? command_columns(stderr) : UINT_MAX;
    fprintf(stderr, display->is_terminal ? "\r\033[K%s" : "%s\n",
            program_progress_line(jobs, now, columns, &display->scratch));
    base_arena_reset(&display->scratch);
}

int program_execute_with_progress(struct program_jobs *jobs, bool is_quiet) {
    if (is_quiet)
        return program_execute_all(jobs);
    struct display display = {.is_terminal = isatty(STDERR_FILENO),
                              .next = program_now_seconds() + seconds_between_lines};
    jobs->progress = show;
    jobs->context = &display;
    int status = program_execute_all(jobs);
    if (display.is_terminal)
        fputs("\r\033[K", stderr);
    base_arena_free(&display.scratch);
    return status;
}
