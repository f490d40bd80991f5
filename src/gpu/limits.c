/* Ends a launch early: faults of the program, deadlocks, limits, the user. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "gpu/engine.h"

/* A broken invariant is a bug in Heddle, not in the program. It ends the launch. */
static bool check(struct gpu_run *run, const struct sm *sm, uint64_t cycle) {
    uint32_t every = run->gpu->config.check_every;
    char text[200];
    if (!every || ++run->n_checked % every || sm_check_invariants(sm, text, sizeof text))
        return true;
    run->error->status = GPU_TRAP;
    snprintf(run->error->message, sizeof run->error->message, "broken invariant at cycle %" PRIu64 ": %s", cycle, text);
    return false;
}

bool gpu_observe_tick(struct gpu_run *run, uint32_t sm, uint64_t cycle) {
    if (run->is_observed)
        sm_observe_cycle(run->timed->sm[sm], cycle);
    return check(run, run->timed->sm[sm], cycle);
}

bool gpu_has_no_fault(struct gpu_run *run, uint32_t sm) {
    const struct exec_row *row;
    uint32_t pc;
    const struct exec_context *cx = sm_fault(run->timed->sm[sm], &row, &pc);
    if (cx)
        gpu_describe_fault(cx, row, pc, run->error);
    return !cx && run->error->status == GPU_OK;
}

/* Prints the first lines of a dump and counts the others. */
struct dump {
    unsigned n_lines;
};

enum { MOST_DUMP_LINES = 40 };

static void print_line(void *user, const char *text) {
    struct dump *dump = user;
    if (dump->n_lines++ < MOST_DUMP_LINES)
        fprintf(stderr, "heddle: %s\n", text);
}

/* what: "deadlock" or "livelock"; why: the rest of the sentence. */
static void report_no_progress(struct gpu_run *run, const char *what, const char *why) {
    struct dump dump = {0};
    run->error->status = GPU_LAUNCH_TIMEOUT;
    snprintf(run->error->message, sizeof run->error->message,
             "%s in kernel '%s' at cycle %" PRIu64 ": %s (the waiting groups are listed above)", what,
             run->grid->program->name, run->timed->cycle, why);
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        sm_describe(run->timed->sm[i], print_line, &dump);
    mem_end_mail(run->timed->mem); /* packets between host threads are in flight too */
    mem_describe(run->timed->mem, print_line, &dump);
    if (dump.n_lines > MOST_DUMP_LINES)
        fprintf(stderr, "heddle: ... and %u more\n", dump.n_lines - MOST_DUMP_LINES);
}

static void report_livelock(struct gpu_run *run) {
    const char *scheduler = gpu_livelock_scheduler(run->livelock, run->timed->sm, run->timed->machine.sm.count);
    if (!scheduler) {
        report_no_progress(run, "livelock", "every group repeats itself and nothing changes");
        return;
    }
    run->error->status = GPU_LAUNCH_TIMEOUT;
    snprintf(run->error->message, sizeof run->error->message,
             "livelock in kernel '%s' at cycle %" PRIu64 ": scheduler %s picks none of the groups that are ready",
             run->grid->program->name, run->timed->cycle, scheduler);
}

static bool stop(struct gpu_run *run, enum gpu_status status, const char *what) {
    run->error->status = status;
    snprintf(run->error->message, sizeof run->error->message,
             "%s in kernel '%s' after %" PRIu64 " cycles, %" PRIu64 " of %" PRIu64 " blocks", what,
             run->grid->program->name, run->timed->cycle - run->first_cycle, run->n_finished, run->n_blocks);
    return false;
}

bool gpu_look_outside(struct gpu_run *run) {
    const struct gpu_config *config = &run->gpu->config;
    run->next_look = run->n_ticks + (run->is_quiet ? GPU_QUIET_CHECK_EVERY : GPU_CHECK_EVERY);
    if ((config->stop && *config->stop) || (run->gpu->is_copy_of && getppid() != run->gpu->is_copy_of))
        return stop(run, GPU_INTERRUPTED, "interrupted");
    uint64_t now = gpu_host_clock_ns();
    if (config->shows_progress) {
        uint64_t cycles = run->timed->cycle - run->first_cycle;
        uint64_t instructions = gpu_count_instructions(run->timed) - run->progress.first_instructions;
        gpu_progress_show(&run->progress, run->grid->program->name, run->n_finished, run->n_blocks,
                          (double)cycles * 1e-3, "K cycles", cycles ? (double)instructions / (double)cycles : 0);
    }
    gpu_live_look(run);
    if (config->timeout_seconds > 0 && (double)(now - run->gpu->start_ns) * 1e-9 > config->timeout_seconds)
        return stop(run, GPU_TIME_LIMIT, "time limit reached");
    const struct config_machine *machine = &run->timed->machine;
    run->is_quiet = gpu_is_quiet(run->timed->sm, machine->sm.count, machine->limits.watchdog_cycles, run->timed->cycle);
    if (run->is_quiet && gpu_livelock_found(&run->livelock, run->timed->sm, machine->sm.count, run->timed->cycle)) {
        report_livelock(run);
        return false;
    }
    return true;
}

bool gpu_may_reach(struct gpu_run *run, uint64_t next) {
    if (next == MEM_NEVER) {
        for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
            if (sm_last_cycle(run->timed->sm[i]) > run->timed->cycle)
                run->timed->cycle = sm_last_cycle(run->timed->sm[i]);
        report_no_progress(run, "deadlock", "no group can issue");
        return false;
    }
    if (next - run->first_cycle <= run->most_cycles)
        return true;
    run->timed->cycle = run->first_cycle + run->most_cycles;
    return stop(run, GPU_CYCLE_LIMIT, "cycle limit reached");
}
