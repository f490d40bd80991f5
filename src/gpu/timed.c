/* Executes a grid in time: blocks go to SMs that have room, SMs are ticked in the cycles they ask for, the memory
 * system in those between. When all SMs sleep, time jumps to the next event. The order is fixed (memory first, then SMs
 * by number), so every run is the same.
 *
 * An SM that does not depend on the others for a while (sm_is_alone) runs ahead of them: its registers and slots then
 * stay in the host's caches. No simulated component can observe the difference. Several SMs may run ahead at once, on
 * config.n_threads host threads. */
#include "gpu/timed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/livelock.h"
#include "gpu/progress.h"
#include "gpu/sampler.h"
#include "gpu/trace.h"
#include "gpu/workers.h"
#include "mem/mem.h"
#include "sm/sm.h"

struct gpu_timed {
    struct config_machine machine;
    const struct sched_ops *scheduler;
    void *scheduler_options;
    const struct divergence_ops *divergence;
    void *divergence_options, *divergence_chip;
    struct run *run; /* while a launch runs */
    struct mem *mem;
    struct sm **sm;
    uint64_t *wake; /* per SM: the next cycle it wants */
    uint64_t cycle;
    struct gpu_workers *workers; /* NULL: one thread, or not needed so far */
    bool checks;
    const char **remarked; /* kernels about which the model has remarked something, as the gpu keeps their names */
    uint32_t n_remarked;
    struct gpu_trace *trace; /* NULL: none */
};

enum {
    CHECK_EVERY = 16384, /* ticks of SMs between checks of the host's clock */
    MOST_AHEAD = 2048,   /* cycles that an SM may run ahead of the others */
    WORTH_WORKERS = 32,  /* ticks ahead that take longer than handing them to another thread */
};

struct ahead {
    uint32_t sm;
    uint64_t n_ticks;
};

/* A launch in progress. */
struct run {
    struct gpu *gpu;
    struct gpu_timed *timed;
    const struct exec_grid *grid;
    struct gpu_error *error;
    uint64_t n_blocks, next_block, n_finished, first_cycle;
    double next_start;   /* no block starts before this cycle */
    uint64_t n_ticks;    /* of all SMs, without those that run ahead */
    uint64_t n_checked;  /* the tick of the next check */
    struct ahead *ahead; /* the SMs that run ahead in this cycle */
    uint64_t last_ahead; /* they stop at this cycle */
    uint64_t mean_ahead; /* mean ticks per SM in the last run ahead */
    struct gpu_progress progress;
    struct gpu_livelock *livelock;
    struct gpu_sampler *sampler; /* NULL: no samples */
    bool has_series;             /* samples, or a timeline */
    bool is_watched;             /* SMs are checked or observed after each tick */
    bool is_observed;
};

static void wake_by(struct gpu_timed *timed, uint32_t sm, uint64_t cycle) {
    if (cycle < timed->wake[sm])
        timed->wake[sm] = cycle;
}

static void memory_done(void *user, uint32_t sm, uint32_t token, uint64_t cycle) {
    struct gpu_timed *timed = user;
    sm_memory_done(timed->sm[sm], token, cycle);
    wake_by(timed, sm, cycle);
}

static void memory_changed(void *user, uint32_t sm, uint64_t cycle) {
    struct gpu_timed *timed = user;
    sm_memory_changed(timed->sm[sm]);
    wake_by(timed, sm, cycle);
}

static void wake_sm(void *user, uint32_t sm, uint64_t cycle) { wake_by(user, sm, cycle); }

static bool pull_block(void *user, uint32_t sm, uint64_t cycle);
static void block_ended(void *user);

static bool choose_policies(struct gpu_timed *timed, char *error, size_t size) {
    const struct config_machine *machine = &timed->machine;
    char rule[256];
    if (!sched_parse_by(machine->rules, machine->scheduler, &timed->scheduler, &timed->scheduler_options, error,
                        size) ||
        !divergence_parse_by(machine->rules, machine->divergence, &timed->divergence, &timed->divergence_options, error,
                             size))
        return false;
    const char *refusal = timed->divergence->refuses
                              ? timed->divergence->refuses(timed->divergence_options, machine, NULL, rule, sizeof rule)
                              : NULL;
    if (refusal)
        snprintf(error, size, "%s", refusal);
    return !refusal;
}

static void build(struct gpu_timed *timed) {
    const struct config_machine *machine = &timed->machine;
    timed->mem = mem_new(machine, memory_done, timed);
    mem_report_changes(timed->mem, memory_changed);
    timed->sm = calloc(machine->n_sms, sizeof(struct sm *));
    timed->wake = calloc(machine->n_sms, sizeof *timed->wake);
    if (!timed->sm || !timed->wake)
        abort();
    if (timed->divergence->chip)
        timed->divergence_chip = timed->divergence->chip->new_chip(timed->divergence_options, machine);
    struct sm_setup setup = {
        .machine = machine,
        .scheduler = timed->scheduler,
        .scheduler_options = timed->scheduler_options,
        .divergence = timed->divergence,
        .divergence_options = timed->divergence_options,
        .divergence_chip = timed->divergence_chip,
        .dispatcher = {pull_block, block_ended, wake_sm, timed},
        .mem = timed->mem,
        .observer = timed->trace ? gpu_trace_observer(timed->trace) : NULL,
        .checks = timed->checks,
    };
    for (; setup.index < machine->n_sms; setup.index++) {
        timed->wake[setup.index] = SM_NEVER;
        timed->sm[setup.index] = sm_new(&setup);
    }
}

struct gpu_timed *gpu_timed_new(const struct gpu_config *config, char *error, size_t size) {
    struct gpu_timed *timed = calloc(1, sizeof *timed);
    if (!timed)
        abort();
    timed->machine = *config->machine;
    if (*config->scheduler)
        snprintf(timed->machine.scheduler, sizeof timed->machine.scheduler, "%s", config->scheduler);
    bool is_good = choose_policies(timed, error, size) && mem_can_build(config->machine, error, (uint32_t)size);
    if (is_good && *config->trace.path) {
        timed->trace = gpu_trace_new(&config->trace, timed->machine.n_sms, error, size);
        is_good = timed->trace != NULL;
    }
    if (!is_good) {
        gpu_timed_free(timed);
        return NULL;
    }
    timed->checks = config->check_every != 0;
    build(timed);
    return timed;
}

static void tear_down(struct gpu_timed *timed) {
    for (uint32_t i = 0; timed->sm && i < timed->machine.n_sms; i++)
        sm_free(timed->sm[i]);
    if (timed->divergence_chip)
        timed->divergence->chip->free_chip(timed->divergence_chip);
    mem_free(timed->mem);
    free(timed->sm);
    free(timed->wake);
}

/* Makes new SMs and a new memory system. Time goes on. After a launch that did not end, groups and accesses are left
 * over. */
static void renew(struct gpu_timed *timed) {
    tear_down(timed);
    build(timed);
    if (timed->workers)
        mem_allow_parallel_fetches(timed->mem);
    for (uint32_t i = 0; i < timed->machine.n_sms; i++)
        sm_catch_up(timed->sm[i], timed->cycle);
}

void gpu_timed_free(struct gpu_timed *timed) {
    if (!timed)
        return;
    tear_down(timed);
    gpu_workers_free(timed->workers);
    gpu_trace_free(timed->trace);
    free(timed->scheduler_options);
    free(timed->divergence_options);
    free(timed->remarked);
    free(timed);
}

void gpu_timed_save(struct gpu_timed *timed, struct base_bytes *state) {
    base_bytes_put_u64(state, timed->cycle);
    mem_save_contents(timed->mem, state);
}

void gpu_timed_load(struct gpu_timed *timed, struct base_bytes *state) {
    state->at = 0;
    timed->cycle = base_bytes_take_u64(state);
    renew(timed);
    mem_load_contents(timed->mem, state);
}

void gpu_timed_host_access(struct gpu_timed *timed, uint64_t address, uint64_t bytes) {
    if (timed->machine.l2_is_warm)
        mem_warm(timed->mem, address, bytes);
}

uint64_t gpu_timed_ns(const struct gpu_timed *timed) {
    return (uint64_t)((double)timed->cycle / timed->machine.clock_ghz);
}

/* --- blocks --- */

/* The dispatcher starts one block after the other: sm.launch_cycles after the launch, sm.block_cycles apart. */
static void start_block(struct run *run, uint32_t i) {
    struct gpu_timed *timed = run->timed;
    if (run->next_start < (double)timed->cycle)
        run->next_start = (double)timed->cycle;
    uint64_t start = (uint64_t)run->next_start;
    run->next_start += timed->machine.block_cycles;
    sm_start_block_at(timed->sm[i], (uint32_t)run->next_block++, start, timed->cycle);
    timed->wake[i] = timed->cycle + 1;
}

/* Starts one block on each SM in turn while there is room; models that pull blocks do so. */
static void fill(struct run *run) {
    struct gpu_timed *timed = run->timed;
    if (timed->divergence->chip) {
        for (uint32_t i = 0; i < timed->machine.n_sms; i++)
            sm_pull(timed->sm[i], timed->cycle);
        return;
    }
    bool has_started = true;
    while (has_started && run->next_block < run->n_blocks) {
        has_started = false;
        for (uint32_t i = 0; i < timed->machine.n_sms && run->next_block < run->n_blocks; i++)
            if (sm_has_room(timed->sm[i])) {
                start_block(run, i);
                has_started = true;
            }
    }
}

static bool pull_block(void *user, uint32_t sm, uint64_t cycle) {
    struct gpu_timed *timed = user;
    struct run *run = timed->run;
    if (run->next_block == run->n_blocks)
        return false;
    sm_start_block(timed->sm[sm], (uint32_t)run->next_block++, cycle);
    return true;
}

static void block_ended(void *user) {
    struct gpu_timed *timed = user;
    timed->run->n_finished++;
}

/* --- limits, faults --- */

/* A broken invariant is a bug in Heddle, not in the program: it ends the launch. */
static bool check(struct run *run, const struct sm *sm) {
    uint32_t every = run->gpu->config.check_every;
    char text[200];
    if (!every || ++run->n_checked % every || sm_check_invariants(sm, text, sizeof text))
        return true;
    run->error->status = GPU_TRAP;
    snprintf(run->error->message, sizeof run->error->message, "broken invariant at cycle %" PRIu64 ": %s",
             run->timed->cycle, text);
    return false;
}

/* A tick of the SM has finished. Returns false if a check failed. */
static inline bool watch(struct run *run, struct sm *sm, uint64_t cycle) {
    if (!run->is_watched)
        return true;
    if (run->is_observed)
        sm_observe_cycle(sm, cycle);
    return check(run, sm);
}

static bool report_fault(struct run *run, const struct sm *sm) {
    const struct exec_row *row;
    uint32_t pc;
    const struct exec_context *cx = sm_fault(sm, &row, &pc);
    if (!cx)
        return false;
    gpu_describe_fault(cx, row, pc, run->error);
    return true;
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
static void report_no_progress(struct run *run, const char *what, const char *why) {
    struct dump dump = {0};
    run->error->status = GPU_LAUNCH_TIMEOUT;
    snprintf(run->error->message, sizeof run->error->message,
             "%s in kernel '%s' at cycle %" PRIu64 ": %s (the waiting groups are listed above)", what,
             run->grid->program->name, run->timed->cycle, why);
    for (uint32_t i = 0; i < run->timed->machine.n_sms; i++)
        sm_describe(run->timed->sm[i], print_line, &dump);
    mem_describe(run->timed->mem, print_line, &dump);
    if (dump.n_lines > MOST_DUMP_LINES)
        fprintf(stderr, "heddle: ... and %u more\n", dump.n_lines - MOST_DUMP_LINES);
}

static bool stop(struct run *run, enum gpu_status status, const char *what) {
    run->error->status = status;
    snprintf(run->error->message, sizeof run->error->message,
             "%s in kernel '%s' after %" PRIu64 " cycles, %" PRIu64 " of %" PRIu64 " blocks", what,
             run->grid->program->name, run->timed->cycle - run->first_cycle, run->n_finished, run->n_blocks);
    return false;
}

static bool may_go_on(struct run *run) {
    const struct gpu_config *config = &run->gpu->config;
    if (config->stop && *config->stop)
        return stop(run, GPU_INTERRUPTED, "interrupted");
    uint64_t now = gpu_host_clock_ns();
    if (config->shows_progress)
        gpu_progress_show(&run->progress, run->grid->program->name, run->n_finished, run->n_blocks,
                          (double)(run->timed->cycle - run->first_cycle) * 1e-3, "K cycles");
    if (config->timeout_seconds > 0 && (double)(now - run->gpu->start_ns) * 1e-9 > config->timeout_seconds)
        return stop(run, GPU_TIME_LIMIT, "time limit reached");
    const struct config_machine *machine = &run->timed->machine;
    if (gpu_livelock_found(&run->livelock, run->timed->sm, machine->n_sms, machine->watchdog_cycles,
                           run->timed->cycle)) {
        report_no_progress(run, "livelock", "every group repeats itself and nothing changes");
        return false;
    }
    return true;
}

/* --- the clock --- */

static uint64_t next_cycle(const struct gpu_timed *timed) {
    uint64_t next = mem_next_event(timed->mem);
    for (uint32_t i = 0; i < timed->machine.n_sms; i++)
        next = timed->wake[i] < next ? timed->wake[i] : next;
    return next;
}

/* An SM has been ticked in this cycle and next has work in cycle `next`. Wake-ups requested during the tick count too,
 * but no SM is ticked twice in a cycle. */
static void wake_after(struct gpu_timed *timed, uint32_t i, uint64_t cycle, uint64_t next) {
    if (timed->wake[i] <= cycle)
        timed->wake[i] = cycle + 1;
    wake_by(timed, i, next);
}

/* Ticks an SM in the common cycle; starts a new block for each that has ended. Returns false on a fault. */
static bool tick_together(struct run *run, uint32_t i) {
    struct gpu_timed *timed = run->timed;
    uint64_t before = run->n_finished;
    run->n_ticks++;
    timed->wake[i] = SM_NEVER;
    wake_after(timed, i, timed->cycle, sm_tick(timed->sm[i], timed->cycle));
    if (report_fault(run, timed->sm[i]) || !watch(run, timed->sm[i], timed->cycle))
        return false;
    bool starts_blocks = run->n_finished != before && !timed->divergence->chip;
    while (starts_blocks && run->next_block < run->n_blocks && sm_has_room(timed->sm[i]))
        start_block(run, i);
    return true;
}

static bool may_run_ahead(const struct run *run, uint32_t i) {
    uint64_t wake = run->timed->wake[i];
    return wake <= run->last_ahead && sm_is_alone(run->timed->sm[i], wake);
}

/* Ticks an SM in the cycles in which it is alone. */
static void run_ahead(void *user, uint32_t k) {
    struct run *run = user;
    struct gpu_timed *timed = run->timed;
    uint32_t i = run->ahead[k].sm;
    uint64_t n_ticks = 0, next = 0;
    for (bool is_alone = true; is_alone && may_run_ahead(run, i); n_ticks += is_alone) {
        uint64_t cycle = timed->wake[i];
        timed->wake[i] = SM_NEVER;
        is_alone = sm_tick_alone(timed->sm[i], cycle, &next);
        if (!is_alone)
            timed->wake[i] = cycle;
        else {
            wake_after(timed, i, cycle, next);
            if (!watch(run, timed->sm[i], cycle))
                break;
        }
    }
    run->ahead[k].n_ticks = n_ticks;
}

/* Tests, profiles and observers share data among SMs: they use one thread. */
static bool has_workers(struct run *run) {
    struct gpu_timed *timed = run->timed;
    const struct gpu_config *config = &run->gpu->config;
    if (config->n_threads < 2 || config->check_every || run->grid->profile || run->is_observed)
        return false;
    if (!timed->workers) {
        timed->workers = gpu_workers_new(config->n_threads);
        mem_allow_parallel_fetches(timed->mem);
    }
    return true;
}

/* Runs the first n_ahead SMs of run->ahead. Returns false on a fault. */
static bool run_all_ahead(struct run *run, uint32_t n_ahead) {
    uint64_t n_ticks = 0;
    if (n_ahead > 1 && run->mean_ahead >= WORTH_WORKERS && has_workers(run))
        gpu_workers_run(run->timed->workers, run_ahead, run, n_ahead);
    else
        for (uint32_t k = 0; k < n_ahead; k++)
            run_ahead(run, k);
    for (uint32_t k = 0; k < n_ahead; k++) {
        if (run->error->status != GPU_OK || report_fault(run, run->timed->sm[run->ahead[k].sm]))
            return false;
        n_ticks += run->ahead[k].n_ticks;
    }
    run->n_ticks += n_ticks;
    run->mean_ahead = n_ticks / n_ahead;
    return true;
}

/* Ticks the SMs that are due in this cycle. Those that may run ahead then do so; if the window for that has just moved,
 * the others may too, so that many run at once. Returns false on a fault. */
static bool tick_all(struct run *run, bool is_new_window) {
    struct gpu_timed *timed = run->timed;
    uint32_t n_ahead = 0;
    for (uint32_t i = 0; i < timed->machine.n_sms; i++) {
        bool is_due = timed->wake[i] <= timed->cycle;
        if (is_due && !tick_together(run, i))
            return false;
        if ((is_due || is_new_window) && may_run_ahead(run, i))
            run->ahead[n_ahead++].sm = i;
    }
    return n_ahead == 0 || run_all_ahead(run, n_ahead);
}

/* No SM runs ahead beyond this cycle. */
static uint64_t last_ahead(const struct run *run, uint64_t cycle, uint64_t most_cycles) {
    bool keeps_step = run->gpu->config.keeps_step || run->timed->trace; /* a timeline that is full ends for all SMs */
    uint64_t last = keeps_step ? cycle : cycle + MOST_AHEAD;
    if (run->sampler && run->sampler->next < last)
        last = run->sampler->next;
    return last - run->first_cycle > most_cycles ? run->first_cycle + most_cycles : last;
}

/* Everything up to `cycle` has happened. */
static void advance_series(struct run *run, uint64_t cycle) {
    if (run->sampler)
        gpu_sampler_advance(run->sampler, cycle);
    if (run->timed->trace)
        gpu_trace_advance(run->timed->trace, cycle);
}

static bool run_clock(struct run *run) {
    struct gpu_timed *timed = run->timed;
    uint64_t next_look = CHECK_EVERY, most_cycles = timed->machine.max_cycles ? timed->machine.max_cycles : UINT64_MAX;
    while (run->n_finished < run->n_blocks) {
        uint64_t next = next_cycle(timed);
        if (next == MEM_NEVER) {
            report_no_progress(run, "deadlock", "no group can issue");
            return false;
        }
        if (next - run->first_cycle > most_cycles) {
            timed->cycle = run->first_cycle + most_cycles;
            return stop(run, GPU_CYCLE_LIMIT, "cycle limit reached");
        }
        if (run->has_series)
            advance_series(run, next - 1);
        timed->cycle = next;
        if (mem_next_event(timed->mem) <= next)
            mem_advance(timed->mem, next);
        bool is_new_window = next > run->last_ahead;
        if (is_new_window)
            run->last_ahead = last_ahead(run, next, most_cycles);
        if (!tick_all(run, is_new_window))
            return false;
        if (run->n_ticks >= next_look) {
            next_look = run->n_ticks + CHECK_EVERY;
            if (!may_go_on(run))
                return false;
        }
    }
    return true;
}

/* The part of sm.drain_cycles that this grid takes: in proportion to the SMs that had blocks, if it accessed memory. */
static uint64_t drain_cycles(const struct run *run, const struct stats_counters *before) {
    const struct gpu_timed *timed = run->timed;
    struct stats_counters now = {0};
    if (!timed->machine.drain_cycles)
        return 0;
    for (uint32_t i = 0; i < timed->machine.n_sms; i++)
        sm_add_counters(timed->sm[i], &now);
    uint64_t n_used = run->n_blocks < timed->machine.n_sms ? run->n_blocks : timed->machine.n_sms;
    bool has_accessed = now.long_instructions > before->long_instructions;
    return has_accessed ? timed->machine.drain_cycles * n_used / timed->machine.n_sms : 0;
}

/* Lets memory finish what comes in by this cycle, the launch's last: stores, and atomics that no one waits for. */
static void drain(struct gpu_timed *timed, uint64_t cycle) {
    while (timed->cycle < cycle && mem_next_event(timed->mem) <= cycle) {
        if (mem_next_event(timed->mem) > timed->cycle)
            timed->cycle = mem_next_event(timed->mem);
        mem_advance(timed->mem, timed->cycle);
    }
    timed->cycle = cycle;
}

/* --- counters --- */

static void collect(const struct gpu_timed *timed, struct stats_counters *sum) {
    for (uint32_t i = 0; i < timed->machine.n_sms; i++)
        sm_add_counters(timed->sm[i], sum);
    stats_add_mem(sum, mem_counters(timed->mem));
    sum->cycles += timed->cycle;
}

/* The model refuses this program. */
static bool is_refused(const struct gpu_timed *timed, const struct exec_program *program, struct gpu_error *error) {
    char rule[400];
    if (!timed->divergence->refuses)
        return false;
    const char *refusal =
        timed->divergence->refuses(timed->divergence_options, &timed->machine, program, rule, sizeof rule);
    if (refusal)
        snprintf(error->message, sizeof error->message, "kernel '%s': %s", program->name, refusal);
    return refusal != NULL;
}

/* Tells the user what the model remarks about this launch: once for a kernel. */
static void show_remark(struct gpu_timed *timed, const struct exec_grid *grid, const char *kernel) {
    char text[256];
    uint32_t n_threads = grid->block[0] * grid->block[1] * grid->block[2];
    const char *remark =
        timed->divergence->remarks
            ? timed->divergence->remarks(timed->divergence_options, grid->program, n_threads, text, sizeof text)
            : NULL;
    for (uint32_t i = 0; remark && i < timed->n_remarked; i++)
        if (timed->remarked[i] == kernel)
            return;
    if (!remark)
        return;
    timed->remarked = realloc(timed->remarked, (timed->n_remarked + 1) * sizeof *timed->remarked);
    if (!timed->remarked)
        abort();
    timed->remarked[timed->n_remarked++] = kernel;
    fprintf(stderr, "heddle: kernel '%s': %s\n", kernel, remark);
}

bool gpu_run_timed(struct gpu *gpu, struct gpu_timed *timed, const struct exec_grid *grid,
                   struct gpu_launch_record *record, struct gpu_error *error) {
    struct sm_program *program = sm_program_new(grid->program, &timed->machine);
    struct stats_counters before = {0};
    struct gpu_sampler sampler;
    uint64_t lanes_before[EXEC_LANES + 1] = {0};
    struct run run = {.gpu = gpu, .timed = timed, .grid = grid, .error = error};
    run.n_blocks = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    run.first_cycle = timed->cycle;
    run.ahead = base_allocate(timed->machine.n_sms, sizeof *run.ahead);
    run.is_observed = timed->trace || gpu->config.records_lines;
    run.is_watched = run.is_observed || gpu->config.check_every;
    timed->run = &run;
    gpu_progress_start(&run.progress);
    bool is_done = !is_refused(timed, grid->program, error);
    if (is_done)
        show_remark(timed, grid, record->kernel);
    for (uint32_t i = 0; is_done && i < timed->machine.n_sms; i++)
        is_done = sm_begin_grid(timed->sm[i], grid, program, error->message, sizeof error->message);
    if (!is_done)
        error->status = GPU_LAUNCH_OUT_OF_RESOURCES;
    collect(timed, &before);
    gpu_add_active_lanes(timed->sm, timed->machine.n_sms, lanes_before);
    if (gpu->config.sample_cycles) {
        run.sampler = &sampler;
        gpu_sampler_start(&sampler, &record->series, timed->sm, timed->machine.n_sms, timed->mem, run.first_cycle,
                          gpu->config.sample_cycles, gpu->config.most_samples);
    }
    run.has_series = run.sampler || timed->trace;
    if (timed->trace)
        gpu_trace_begin(timed->trace, grid->program, timed->sm, timed->mem, run.first_cycle);
    if (is_done) {
        run.next_start = (double)(timed->cycle + timed->machine.launch_cycles);
        fill(&run);
        is_done = run_clock(&run);
        drain(timed, timed->cycle + drain_cycles(&run, &before));
    }
    gpu_progress_end(&run.progress);
    gpu_livelock_free(run.livelock);
    fflush(stdout);                                     /* device printf */
    for (uint32_t i = 0; i < timed->machine.n_sms; i++) /* in a launch that did not end, some may be ahead */
        if (sm_last_cycle(timed->sm[i]) > timed->cycle)
            timed->cycle = sm_last_cycle(timed->sm[i]);
    for (uint32_t i = 0; i < timed->machine.n_sms; i++) {
        sm_catch_up(timed->sm[i], timed->cycle);
        sm_observe_end(timed->sm[i], timed->cycle);
        sm_end_grid(timed->sm[i]);
        timed->wake[i] = SM_NEVER;
    }
    if (run.sampler)
        gpu_sampler_end(run.sampler);
    if (timed->trace)
        gpu_trace_end(timed->trace, timed->cycle);
    mem_flush_l1(timed->mem, timed->cycle);
    if (gpu->checkpoint && is_done) /* saves a memory system with nothing in flight */
        mem_advance(timed->mem, MEM_NEVER);
    collect(timed, &record->counters);
    stats_subtract(&record->counters, &before);
    gpu_count_energy(&timed->machine.energy, &record->counters);
    gpu_add_active_lanes(timed->sm, timed->machine.n_sms, record->active_lanes);
    for (int i = 0; i <= EXEC_LANES; i++)
        record->active_lanes[i] -= lanes_before[i];
    free(run.ahead);
    sm_program_free(program);
    if (!is_done)
        renew(timed);
    return is_done;
}
