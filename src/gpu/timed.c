/* Timed launches. The dispatcher (dispatcher.c) starts blocks on SMs that have room. The clock (clock.c) ticks the SMs
 * and the memory system until all blocks have ended. Then the counters are collected. */
#include "gpu/timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/occupancy.h"
#include "exec/profile.h"
#include "gpu/dispatcher.h"
#include "gpu/engine.h"

static void memory_done(void *user, uint32_t sm, uint32_t token, uint64_t cycle) {
    struct gpu_timed *timed = user;
    if (sm_memory_done(timed->sm[sm], token, cycle))
        gpu_wake_by(&timed->unit[sm], cycle);
}

static void memory_changed(void *user, uint32_t sm, uint64_t cycle) {
    struct gpu_timed *timed = user;
    sm_memory_changed(timed->sm[sm]);
    gpu_wake_by(&timed->unit[sm], cycle);
}

static void line_filled(void *user, uint32_t sm, const struct mem_fill *fill, uint64_t cycle) {
    const struct gpu_timed *timed = user;
    sm_line_filled(timed->sm[sm], fill, cycle);
}

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
    if (!refusal && timed->divergence->chip && (timed->scheduler->blocks || timed->scheduler->choose_block)) {
        snprintf(error, size, "scheduler %s decides which blocks run, but under %s blocks start by other rules",
                 timed->scheduler->name, timed->divergence->name);
        return false;
    }
    if (!refusal && machine->cacp.is_present && !timed->scheduler->is_critical) {
        snprintf(error, size,
                 "cacp.present is true, but scheduler %s does not say which warps are critical: use caws or gcaws",
                 timed->scheduler->name);
        return false;
    }
    return !refusal;
}

/* Every tick needs its turn if SMs exchange threads, if lanes choose their instructions by themselves, or if packets
 * take no time: with perfect memory, or without a crossbar. */
static uint32_t quantum_of(const struct gpu_timed *timed) {
    const struct divergence_ops *divergence = timed->divergence;
    bool is_joint = divergence->chip || divergence_mixes_pcs(divergence);
    bool has_time = mem_partitions(timed->mem) > 0 && mem_quantum(timed->mem) > 1;
    return is_joint || !has_time ? 1 : mem_quantum(timed->mem);
}

static void build(struct gpu_timed *timed) {
    const struct config_machine *machine = &timed->machine;
    timed->mem = mem_new(machine, memory_done, timed);
    mem_report_changes(timed->mem, memory_changed);
    mem_use_host_memory(timed->mem, timed->host, timed->n_host);
    if (timed->scheduler->l1)
        mem_report_fills(timed->mem, line_filled);
    timed->sm = calloc(machine->sm.count, sizeof(struct sm *));
    timed->unit = base_allocate_aligned(machine->sm.count * sizeof *timed->unit);
    if (!timed->sm)
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
        .dispatcher = gpu_dispatcher(timed),
        .mem = timed->mem,
        .calls = &timed->calls,
        .observer = timed->trace ? gpu_trace_observer(timed->trace) : NULL,
        .checks = timed->checks,
    };
    for (; setup.index < machine->sm.count; setup.index++) {
        timed->unit[setup.index].clock.wake = SM_NEVER;
        timed->unit[setup.index].sm = timed->sm[setup.index] = sm_new(&setup);
        timed->unit[setup.index].answer = mem_sm_clock(timed->mem, setup.index);
    }
    timed->quantum = quantum_of(timed);
    uint32_t n_parts = machine->sm.count + mem_partitions(timed->mem);
    timed->homes = (struct gpu_homes){.home = base_allocate(n_parts, sizeof *timed->homes.home),
                                      .part_of = base_allocate(n_parts, sizeof *timed->homes.part_of)};
    for (uint32_t i = 0; i < machine->sm.count; i++)
        timed->unit[i].stores = base_allocate(1, sizeof *timed->unit[i].stores);
}

struct gpu_timed *gpu_timed_new(const struct gpu_config *config, char *error, size_t size) {
    struct gpu_timed *timed = base_allocate_aligned(sizeof *timed);
    timed->machine = *config->machine;
    if (*config->scheduler)
        snprintf(timed->machine.scheduler, sizeof timed->machine.scheduler, "%s", config->scheduler);
    bool is_good = choose_policies(timed, error, size) && mem_can_build(config->machine, error, (uint32_t)size);
    if (is_good && *config->trace.path) {
        timed->trace = gpu_trace_new(&config->trace, timed->machine.sm.count, error, size);
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
    for (uint32_t i = 0; timed->sm && i < timed->machine.sm.count; i++) {
        sm_free(timed->sm[i]);
        exec_stores_free(timed->unit[i].stores);
    }
    if (timed->divergence_chip)
        timed->divergence->chip->free_chip(timed->divergence_chip);
    mem_free(timed->mem);
    free(timed->sm);
    free(timed->unit);
    free(timed->homes.home);
    free(timed->homes.part_of);
}

/* Makes new SMs and a new memory system, because after a launch that did not end, groups and accesses are left over.
 * Time continues. */
void gpu_renew(struct gpu_timed *timed) {
    tear_down(timed);
    build(timed);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_catch_up(timed->sm[i], timed->cycle);
}

void gpu_timed_free(struct gpu_timed *timed) {
    if (!timed)
        return;
    tear_down(timed);
    for (uint32_t i = 0; i < GPU_PACE_LEVELS; i++)
        gpu_workers_free(timed->pool[i]);
    free(timed->claims);
    gpu_trace_free(timed->trace);
    free(timed->scheduler_options);
    free(timed->divergence_options);
    free(timed->remarked);
    free(timed->host);
    free(timed);
}

void gpu_timed_save(struct gpu_timed *timed, struct base_bytes *state) {
    base_bytes_put_u64(state, timed->cycle);
    mem_save_contents(timed->mem, state);
}

void gpu_timed_load(struct gpu_timed *timed, struct base_bytes *state) {
    state->at = 0;
    timed->cycle = base_bytes_take_u64(state);
    gpu_renew(timed);
    mem_load_contents(timed->mem, state);
}

void gpu_timed_access(struct gpu_timed *timed, uint64_t address, uint64_t bytes, enum mem_warming warming) {
    if (timed->machine.l2.is_warm)
        mem_warm(timed->mem, address, bytes, warming);
}

void gpu_timed_add_host_memory(struct gpu_timed *timed, uint64_t address, uint64_t bytes) {
    timed->host = base_grow(timed->host, timed->n_host + 1, sizeof *timed->host);
    uint32_t at = timed->n_host++;
    for (; at > 0 && timed->host[at - 1].first > address; at--)
        timed->host[at] = timed->host[at - 1];
    timed->host[at] = (struct mem_range){address, address + bytes};
    mem_use_host_memory(timed->mem, timed->host, timed->n_host);
}

void gpu_timed_remove_host_memory(struct gpu_timed *timed, uint64_t address) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < timed->n_host; i++)
        if (timed->host[i].first != address)
            timed->host[n++] = timed->host[i];
    timed->n_host = n;
    mem_use_host_memory(timed->mem, timed->host, n);
}

void gpu_timed_begin_work(struct gpu_timed *timed, uint64_t first) {
    uint64_t shown = timed->cycle + timed->trace_shift; /* the end of the last launch in --trace */
    timed->shift = first - timed->cycle;
    timed->trace_shift = shown > first ? timed->trace_shift : timed->shift;
    if (timed->trace)
        gpu_trace_shift(timed->trace, timed->trace_shift);
}

uint64_t gpu_timed_shift(const struct gpu_timed *timed) { return timed->shift; }

void gpu_timed_note_work(struct gpu_timed *timed, const struct gpu_work *work, const char *name) {
    if (timed->trace)
        gpu_trace_work(timed->trace, work, name);
}

uint64_t gpu_timed_ns(const struct gpu_timed *timed) {
    return (uint64_t)((double)timed->cycle / timed->machine.clock_ghz);
}

uint64_t gpu_drain_cycles(const struct config_machine *machine, uint64_t n_blocks) {
    uint32_t n_sms = machine->sm.count, n_used = n_blocks < n_sms ? (uint32_t)n_blocks : n_sms;
    uint32_t least = machine->launch.drain_least_cycles, most = machine->launch.drain_cycles;
    double share = n_sms > 1 ? log2(n_used) / log2(n_sms) : 1;
    return least + (uint64_t)(share * ((double)most - least));
}

/* Returns how long this grid drains: not at all if it has not accessed memory. */
static uint64_t drain_cycles(const struct gpu_run *run, const struct stats_counters *before) {
    const struct gpu_timed *timed = run->timed;
    struct stats_counters now = {0};
    if (!timed->machine.launch.drain_cycles)
        return 0;
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_add_counters(timed->sm[i], &now);
    bool has_accessed = now.long_instructions > before->long_instructions;
    return has_accessed ? gpu_drain_cycles(&timed->machine, run->n_blocks) : 0;
}

/* Stores, and atomics whose result is not awaited, may still be in flight. */
void gpu_drain(struct gpu_timed *timed, uint64_t cycle) {
    while (timed->cycle < cycle && mem_next_event(timed->mem) <= cycle) {
        if (mem_next_event(timed->mem) > timed->cycle)
            timed->cycle = mem_next_event(timed->mem);
        mem_advance(timed->mem, timed->cycle);
    }
    timed->cycle = cycle;
}

/* Lets the launch last until the L2 has answered all stores and atomics. */
static void drain_unanswered(struct gpu_timed *timed) {
    while (timed->machine.launch.drain_cycles && mem_has_unanswered(timed->mem))
        gpu_drain(timed, mem_next_event(timed->mem));
}

void gpu_sample_dram(struct gpu_timed *timed, uint64_t cycle) {
    const uint64_t *busy;
    uint32_t n = mem_channel_busy(timed->mem, &busy), waiting = 0;
    uint64_t all = 0;
    for (uint32_t channel = 0; channel < n; channel++) {
        all += busy[channel];
        waiting += mem_channel_waiting(timed->mem, channel);
    }
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_sample_dram(timed->sm[i], all, n, waiting, cycle);
}

/* --- counters --- */

void gpu_collect(const struct gpu_timed *timed, struct stats_counters *sum) {
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_add_counters(timed->sm[i], sum);
    stats_add_mem(sum, mem_counters(timed->mem));
    sum->cycles += timed->cycle;
}

bool gpu_timed_accepts(const struct gpu_timed *timed, const struct exec_program *program, struct gpu_error *error) {
    char rule[400];
    if (!timed->divergence->refuses)
        return true;
    const char *refusal =
        timed->divergence->refuses(timed->divergence_options, &timed->machine, program, rule, sizeof rule);
    if (!refusal)
        return true;
    error->status = GPU_NOT_SUPPORTED;
    snprintf(error->message, sizeof error->message, "kernel '%s': %s", program->name, refusal);
    return false;
}

bool gpu_timed_runs_clusters(const struct gpu_timed *timed, const char *kernel, struct gpu_error *error) {
    if (timed->divergence->release)
        return true;
    error->status = GPU_NOT_SUPPORTED;
    snprintf(error->message, sizeof error->message,
             "kernel '%s': model '%s' runs no clusters of several blocks: use another model", kernel,
             timed->divergence->name);
    return false;
}

/* Shows the user the model's remark about this launch, once for a kernel. */
void gpu_show_remark(struct gpu_timed *timed, const struct exec_grid *grid, const char *kernel) {
    char text[256];
    uint32_t n_threads = exec_shape_threads(&grid->shape);
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

/* Sizes the launch's L1: the memory of an SM that shared memory does not take. */
static void split_l1(struct gpu_timed *timed, const struct exec_grid *grid) {
    uint64_t shared = (uint64_t)grid->shared_bytes + timed->machine.shared.reserved_bytes;
    mem_resize_l1(timed->mem, config_l1_bytes(&timed->machine, shared * sm_most_blocks(timed->sm[0])));
}

/* --- a launch --- */

/* Counters and lanes at the start of a launch. */
struct before {
    struct stats_counters counters;
    uint64_t active_lanes[EXEC_LANES + 1];
};

struct beginning {
    const struct exec_grid *grid;
    const struct sm_program *program;
};

static void begin_grid(struct gpu_timed *timed, uint32_t sm, const void *user) {
    const struct beginning *beginning = user;
    sm_begin_grid(timed->sm[sm], beginning->grid, beginning->program);
}

/* Prepares the SMs. */
static void prepare(struct gpu_run *run, const struct sm_program *program, const char *kernel) {
    struct gpu_timed *timed = run->timed;
    gpu_show_remark(timed, run->grid, kernel);
    gpu_choose_threads(run);
    gpu_for_each_sm(timed, begin_grid, &(struct beginning){run->grid, program});
    split_l1(timed, run->grid);
}

static void begin(struct gpu_run *run, struct gpu_sampler *sampler, struct gpu_launch_record *record,
                  struct before *before) {
    struct gpu_timed *timed = run->timed;
    const struct gpu_config *config = &run->gpu->config;
    gpu_collect(timed, &before->counters);
    gpu_add_active_lanes(timed->sm, timed->machine.sm.count, before->active_lanes);
    if (config->sample_cycles) {
        run->sampler = sampler;
        gpu_sampler_start(sampler, &record->series, timed->sm, timed->machine.sm.count, SM_ALL_GRIDS, timed->mem,
                          run->first_cycle, config->sample_cycles, config->most_samples);
        if (run->grid->profile && run->grid->profile->line && !timed->trace)
            sampler->lines = gpu_line_sampler_new(run->grid, config->most_samples);
    }
    run->has_series = run->sampler || timed->trace;
    if (timed->trace) {
        gpu_trace_begin(timed->trace, timed->sm, timed->mem, run->first_cycle);
        gpu_trace_begin_launch(timed->trace, (uint32_t)(record - run->gpu->launch) + 1, run->gpu->stream, run->grid,
                               run->first_cycle);
    }
}

/* Returns false if the launch did not end by itself. */
static bool run_blocks(struct gpu_run *run, const struct before *before) {
    struct gpu_timed *timed = run->timed;
    run->next_start = (double)(timed->cycle + timed->machine.launch.start_cycles);
    if (run->window)
        gpu_window_begin(run);
    gpu_fill(run);
    bool is_done = gpu_run_rounds(run);
    if (run->n_finished < run->n_blocks) /* a window has ended */
        return is_done;
    if (is_done) {
        gpu_check_end(run);
        gpu_drain(timed, timed->cycle + drain_cycles(run, &before->counters));
        drain_unanswered(timed);
    }
    while (is_done && mem_host_idle(timed->mem) > timed->cycle) /* more writes may arrive meanwhile */
        gpu_drain(timed, mem_host_idle(timed->mem));
    return is_done;
}

/* In a launch that did not end, some SMs may be ahead. */
void gpu_catch_up(struct gpu_timed *timed) {
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        if (sm_last_cycle(timed->sm[i]) > timed->cycle)
            timed->cycle = sm_last_cycle(timed->sm[i]);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_catch_up(timed->sm[i], timed->cycle);
}

static void end_grid_on(struct gpu_timed *timed, uint32_t sm, const void *user) {
    (void)user;
    sm_end_grid(timed->sm[sm]);
}

static void end_grid(struct gpu_timed *timed) {
    gpu_catch_up(timed);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        sm_observe_end(timed->sm[i], timed->cycle);
        timed->unit[i].clock.wake = SM_NEVER;
    }
    gpu_for_each_sm(timed, end_grid_on, NULL);
}

static void flush_l1_of(struct gpu_timed *timed, uint32_t sm, const void *user) {
    (void)user;
    mem_flush_l1_of(timed->mem, sm, timed->cycle);
}

static void end(struct gpu_run *run, const struct before *before, struct gpu_launch_record *record, bool is_done) {
    struct gpu_timed *timed = run->timed;
    gpu_progress_end(&run->progress);
    gpu_livelock_free(run->livelock);
    fflush(stdout); /* device printf */
    gpu_find_hot_lines(run, record);
    end_grid(timed);
    if (run->sampler)
        gpu_sampler_end(run->sampler, timed->cycle);
    if (timed->trace) {
        gpu_trace_end_launch(timed->trace, run->grid, timed->cycle);
        gpu_trace_end(timed->trace, timed->cycle);
    }
    if (mem_flushes_apart(timed->mem))
        gpu_for_each_sm(timed, flush_l1_of, NULL);
    else
        mem_flush_l1(timed->mem, timed->cycle);
    if (run->gpu->checkpoint && is_done) /* saves a memory system with nothing in flight */
        mem_advance(timed->mem, MEM_NEVER);
    gpu_collect(timed, &record->counters);
    stats_subtract(&record->counters, &before->counters);
    gpu_count_energy(&timed->machine.energy, &record->counters);
    gpu_add_active_lanes(timed->sm, timed->machine.sm.count, record->active_lanes);
    for (int i = 0; i <= EXEC_LANES; i++)
        record->active_lanes[i] -= before->active_lanes[i];
}

void gpu_begin_run(struct gpu_run *run) {
    struct gpu_timed *timed = run->timed;
    timed->run = run;
    gpu_progress_start(&run->progress);
    run->progress.first_instructions = gpu_count_instructions(timed);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_add_cycles(timed->sm[i], SM_ALL_GRIDS, timed->cycle, run->progress.first_cycles);
}

const struct sm_program *gpu_costs_of(struct gpu_timed *timed, struct gpu_kernel *kernel) {
    if (!kernel->costs)
        kernel->costs = sm_program_new(kernel->program, &timed->machine);
    if (timed->scheduler->wants & SCHED_WANTS_KERNEL)
        sm_program_find_facts(kernel->costs);
    kernel->costs->is_new = !kernel->has_run;
    kernel->has_run = true;
    return kernel->costs;
}

bool gpu_run_timed(struct gpu *gpu, struct gpu_kernel *kernel, const struct exec_grid *grid, struct gpu_window *window,
                   struct gpu_launch_record *record, struct gpu_error *error) {
    struct gpu_timed *timed = gpu->timed;
    struct before before = {0};
    struct gpu_sampler sampler;
    bool is_observed = timed->trace || gpu->config.records_lines;
    struct gpu_run run = {
        .gpu = gpu,
        .timed = timed,
        .grid = grid,
        .error = error,
        .n_blocks = exec_shape_blocks(&grid->shape),
        .next_block = window ? window->first_block : 0,
        .n_finished = window ? window->first_block : 0,
        .window = window,
        .first_cycle = timed->cycle,
        .most_cycles = timed->machine.limits.max_cycles ? timed->machine.limits.max_cycles : UINT64_MAX,
        .next_look = GPU_CHECK_EVERY,
        .is_observed = is_observed,
        .is_watched = is_observed || gpu->config.check_every,
    };
    gpu_begin_run(&run);
    const struct sm_program *costs = gpu_costs_of(timed, kernel);
    if (timed->scheduler->choose_block) {
        run.started = base_allocate(run.n_blocks / 64 + 1, sizeof *run.started);
        run.n_on_sm = base_allocate(timed->machine.sm.count, sizeof *run.n_on_sm);
        run.left = (struct sched_blocks_left){
            .started = run.started, .n_blocks = run.n_blocks, .n_sms = timed->machine.sm.count, .n_on_sm = run.n_on_sm};
    }
    prepare(&run, costs, record->kernel);
    begin(&run, &sampler, record, &before);
    bool is_done = run_blocks(&run, &before), is_cut = is_done && run.n_finished < run.n_blocks;
    free(run.started);
    free(run.n_on_sm);
    if (!is_cut)
        end(&run, &before, record, is_done);
    if (window && is_done)
        gpu_window_measure(&run, is_cut ? NULL : &record->counters);
    if (!is_done)
        gpu_renew(timed);
    return is_done;
}
