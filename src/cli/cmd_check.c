/* `heddle check FILE.so[:KEY=VALUE,...]`: tests a user's policy. First the policy runs alone, on random programs or
 * requests, and every call is checked. Then it runs in a GPU. There, bundled workloads must still compute the results
 * of their CPU references, and must take the same number of cycles in two runs. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "config/plugin.h"
#include "divergence/divergence.h"
#include "mem/dram_trial.h"
#include "program/execute.h"
#include "program/workloads.h"
#include "sched/trial.h"

enum { N_SEEDS = 200, N_BLOCKS = 30, N_REQUESTS = 2000, N_ISSUES = 3000 };

struct check_options {
    struct command_machine_options machine;
    double timeout_seconds;
};

static const struct command_option options[] = {
    COMMAND_MACHINE_ROW(offsetof(struct check_options, machine)),
    COMMAND_SET_ROW(offsetof(struct check_options, machine)),
    {"--timeout", 0, COMMAND_SECONDS, "S", "give up after S seconds, alone or with one workload, default 60",
     offsetof(struct check_options, timeout_seconds), 0, 0},
};

const struct command cli_check_command = {
    .name = "check",
    .summary = "try a scheduler, divergence model or DRAM policy in a shared object",
    .usage = "check FILE.so[:KEY=VALUE,...] [options]",
    .text = "Runs a scheduler on 200 random programs, or a DRAM policy on 200 random streams of requests. It\n"
            "must pick only candidates, decide the same way in the same situation, and let everything end. The\n"
            "longest wait of a warp that is always ready is reported. Then workloads run with it twice: their\n"
            "results must be right and their cycles equal. Exit status: 0 no mistake found, 3 a mistake.\n",
    .examples = "  heddle check ./mine.so\n"
                "  heddle check ./mine.so:length=1 -m h200\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_check,
};

static int wrong(const char *what, const char *problem) {
    printf("wrong  %s: %s\n", what, problem);
    return COMMAND_CHECK_FAILED;
}

/* The policy's position while it is tested alone: memory that both processes see. */
struct place {
    const char *volatile hook; /* the running hook; NULL: none */
    const char *volatile what; /* "random program" or "random requests", made from this seed: */
    volatile uint64_t seed;    /* 0: none */
};

/* ---- Alone ------------------------------------------------------------------------------------------------------- */

static int try_scheduler(const struct sched_ops *ops, const void *given, struct place *place) {
    place->what = "random program";
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        const struct sched_trial trial = {ops, given, NULL, NULL, seed % 4 != 0, N_BLOCKS, seed, &place->hook};
        struct sched_trial_outcome first, second;
        char what[64];
        snprintf(what, sizeof what, "random program %" PRIu64, seed);
        place->seed = seed;
        if (!sched_trial_run(&trial, &first) || !sched_trial_run(&trial, &second))
            return wrong(what, first.problem[0] ? first.problem : second.problem);
        if (first.picks != second.picks)
            return wrong(what, "the same calls lead to other picks: it keeps something outside its state");
    }
    printf("good   %d random programs: only candidates are picked, every warp ends, equal calls lead to equal picks\n",
           N_SEEDS);
    const struct sched_trial starving = {.ops = ops, .options = given, .seed = 1, .hook = &place->hook};
    place->seed = 0;
    uint32_t longest = sched_trial_longest_wait(&starving, N_ISSUES);
    if (longest == UINT32_MAX)
        printf("note   a warp that is always ready may never issue while others are ready too: it can starve\n");
    else
        printf("note   a warp that is always ready waits for %u issues of %d others at most\n", longest,
               SCHED_TRIAL_SLOTS - 1);
    return COMMAND_DONE;
}

static int try_dram_policy(const struct dram_policy *policy, const void *given, struct place *place) {
    uint64_t longest = 0;
    place->what = "random requests";
    place->hook = "pick"; /* the only one */
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct dram_trial_outcome first, second;
        char what[64];
        snprintf(what, sizeof what, "random requests %" PRIu64, seed);
        place->seed = seed;
        if (!mem_try_dram_policy(policy, given, N_REQUESTS, seed, &first) ||
            !mem_try_dram_policy(policy, given, N_REQUESTS, seed, &second))
            return wrong(what, first.problem[0] ? first.problem : second.problem);
        if (first.picks != second.picks)
            return wrong(what, "the same views lead to other picks: it keeps something");
        longest = first.longest_wait_cycles > longest ? first.longest_wait_cycles : longest;
    }
    printf("good   %d random streams of %d requests: every pick is in the queue, and every request is served\n",
           N_SEEDS, N_REQUESTS);
    printf("note   a request waits for %" PRIu64 " cycles at most; a full queue of row conflicts takes 640\n", longest);
    return COMMAND_DONE;
}

/* ---- In a GPU ---------------------------------------------------------------------------------------------------- */

/* They have divergent loops, barriers, atomics, shared memory, stacks in local memory. */
static const char *const workloads[] = {"bfs", "matmul", "sort", "reduction", "nqueens", "histogram", "divergent"};

static int run_one(const char *name, const char *plugin, const struct program_target *target,
                   const struct program_place *place, double timeout, uint64_t *cycles, struct base_arena *arena) {
    struct program_execution execution = {
        .place = place,
        .target = target,
        .timeout_seconds = timeout,
        .keeps_errors = true,
        .output = PROGRAM_OUTPUT_DROPPED,
    };
    int status;
    if (!program_find(&execution.program, name, place, arena, &status))
        return status;
    struct program_job job = {.execution = execution};
    struct program_jobs jobs = {.job = &job, .count = 1, .at_once = 1, .arena = arena};
    status = program_execute_all(&jobs);
    if (status != COMMAND_DONE)
        return status;
    if (jobs.interrupt)
        return command_fail(COMMAND_STOPPED, "%s", job.run.error);
    if (job.is_killed)
        return wrong(name, base_arena_printf(arena, "a hook of %s has not returned after %g s", plugin, timeout));
    if (job.status != COMMAND_DONE)
        return wrong(name, job.run.error ? job.run.error : "it failed");
    *cycles = job.run.total.counters.cycles;
    return COMMAND_DONE;
}

static int run_workloads(const char *plugin, const struct program_target *target, double timeout,
                         struct base_arena *arena) {
    struct program_place place;
    unsigned n_run = 0;
    if (!program_find_place(&place, arena))
        return COMMAND_ERROR;
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        uint64_t first, second;
        if (!program_find_workload(workloads[i]))
            continue;
        int status = run_one(workloads[i], plugin, target, &place, timeout, &first, arena);
        if (status == COMMAND_DONE)
            status = run_one(workloads[i], plugin, target, &place, timeout, &second, arena);
        if (status != COMMAND_DONE)
            return status;
        if (first != second)
            return wrong(workloads[i], "two runs take different cycles");
        n_run++;
    }
    printf("good   %u workloads on %s: results are right, and two runs take the same cycles\n", n_run,
           target->machine.name);
    return COMMAND_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* With its options, which sched_parse() checks. */
static int try_alone(const struct heddle_plugin *plugin, const char *text, struct place *place) {
    char error[512];
    const struct sched_ops *scheduler;
    const struct divergence_ops *model;
    const struct dram_policy *policy;
    void *given = NULL;
    int status = COMMAND_DONE;
    switch (plugin->kind) {
    case HEDDLE_PLUGIN_SCHEDULER:
        if (!sched_parse(text, &scheduler, &given, error, sizeof error))
            return command_fail(COMMAND_ERROR, "%s", error);
        printf("scheduler %s: %s\n", scheduler->name, scheduler->help);
        fflush(stdout);
        status = try_scheduler(scheduler, given, place);
        break;
    case HEDDLE_PLUGIN_DIVERGENCE:
        if (!divergence_parse(text, &model, &given, error, sizeof error))
            return command_fail(COMMAND_ERROR, "%s", error);
        printf("divergence model %s: %s\n", model->name, model->help);
        break;
    default:
        if (!mem_parse_dram_policy(NULL, text, &policy, &given, error, sizeof error))
            return command_fail(COMMAND_ERROR, "%s", error);
        printf("DRAM policy %s: %s\n", policy->name, policy->help);
        fflush(stdout);
        status = try_dram_policy(policy, given, place);
    }
    free(given);
    return status;
}

/* Reports what ended the process that tested the policy, and where it was. */
static int report_end(const char *text, const struct place *place, int signal_number, double timeout) {
    char where[64] = "", program[64] = "", problem[1024];
    if (place->hook)
        snprintf(where, sizeof where, " in %s()", place->hook);
    if (place->seed)
        snprintf(program, sizeof program, " (%s %" PRIu64 ")", place->what, place->seed);
    if (signal_number == SIGALRM)
        snprintf(problem, sizeof problem, "%s has not ended after %g s%s%s", text, timeout, where, program);
    else
        snprintf(problem, sizeof problem, "%s crashes%s%s: SIG%s (%s)", text, where, program,
                 sigabbrev_np(signal_number), sigdescr_np(signal_number));
    return wrong("alone", problem);
}

/* Tests the policy in a separate process, which ends with this one, because a policy may crash or never return. */
static int try_alone_apart(const struct heddle_plugin *plugin, const char *text, double timeout) {
    int status;
    struct place *place =
        mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* all zero */
    fflush(stdout);
    pid_t child = place == MAP_FAILED ? -1 : fork();
    if (child < 0)
        return command_fail(COMMAND_ERROR, "cannot start a process: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm((unsigned)fmin(ceil(timeout), 1e9));
        status = try_alone(plugin, text, place);
        fflush(stdout);
        _exit(status);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return command_fail(COMMAND_ERROR, "cannot wait for a process: %s", strerror(errno));
    if (!WIFEXITED(status))
        status = report_end(text, place, WTERMSIG(status), timeout);
    else
        status = WEXITSTATUS(status);
    munmap(place, sizeof *place);
    return status;
}

static int check(struct check_options *given, const struct command_words *words, struct base_arena *arena) {
    if (words->count != 1 || !config_plugin_file_length(words->item[0]))
        return command_fail(COMMAND_USAGE, "check needs a shared object: heddle check ./mine.so");
    const char *text = words->item[0];
    char error[512];
    const struct heddle_plugin *plugin =
        config_plugin_open(base_arena_copy(arena, text, config_plugin_file_length(text)), error, sizeof error);
    if (!plugin)
        return command_fail(COMMAND_ERROR, "%s", error);
    if (plugin->kind == HEDDLE_PLUGIN_DRAM_POLICY)
        given->machine.dram_policy = text;
    struct program_target target;
    int status = program_make_target(&target, &given->machine, plugin->kind == HEDDLE_PLUGIN_SCHEDULER ? text : NULL,
                                     plugin->kind == HEDDLE_PLUGIN_DIVERGENCE ? text : NULL, 0, arena);
    if (status == COMMAND_DONE)
        status = try_alone_apart(plugin, text, given->timeout_seconds);
    return status == COMMAND_DONE ? run_workloads(text, &target, given->timeout_seconds, arena) : status;
}

int cli_check(int argc, char **argv) {
    struct base_arena arena = {0};
    struct check_options given = {.timeout_seconds = 60};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_check_command, argc, argv, &given, &words, &arena, &status))
        status = check(&given, &words, &arena);
    base_arena_free(&arena);
    return status;
}
