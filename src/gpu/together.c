/* Launches that run at the same time on the timed machine: their blocks share SMs, caches and DRAM.
 *
 * The dispatcher serves the launches by the priority of their streams, then in the order in which they came. A launch
 * gets places for its blocks when all blocks of the launches before it have started, and only those that they leave.
 * Blocks that run are not interrupted. On the H200 blocks start in this order too (bench/hardware/streams.cu,
 * `dispatch`). At most launch.concurrent launches are on the machine at once; others wait.
 *
 * Launches begin and end between rounds of the clock. One that may start in the middle of a round begins after it, but
 * its blocks start when they would have: launch.start_cycles are longer than a round on all our machines. Times are
 * exact, except that a place left by a launch that has no blocks left to start stays empty until the round ends.
 *
 * Each launch has its own record. Counters of the SMs, their L1s and I-caches are divided by sm/grids.c. Those of the
 * L2 and DRAM are divided in proportion to the accesses that left the SMs for each launch, separately for every period
 * in which the same launches ran. The records add up to the counters of the machine.
 *
 * Left out: L1s keep their lines when a launch begins or ends beside another. The split between shared memory and L1 is
 * that of the waiting launch that needs most shared memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "exec/profile.h"
#include "gpu/dispatcher.h"
#include "gpu/engine.h"
#include "gpu/queue.h"
#include "gpu/timeline.h"

/* A launch that runs with others. */
struct gpu_part {
    struct gpu_task *task;
    struct exec_grid grid;
    uint32_t k;      /* its number on the SMs */
    uint32_t number; /* of its record */
    uint64_t n_blocks, next_block, n_finished;
    uint64_t first_cycle;  /* its begin */
    uint64_t joined_cycle; /* when the SMs learned of it */
    uint64_t last_cycle;   /* in which a block ended */
    uint64_t end_cycle;    /* the first after it */
    double next_start;
    bool has_ended;
    struct stats_mem memory;    /* its part of the L2 and DRAM */
    uint64_t traffic;           /* accesses that left the SMs, when memory was last divided */
    struct gpu_sampler sampler; /* without a series: none */
    struct gpu_series series;
    struct gpu_part *next; /* of all */
};

struct gpu_together {
    struct gpu_queue *queue;
    struct gpu_part *on[SM_MOST_GRIDS];    /* by k; NULL: free */
    struct gpu_part *order[SM_MOST_GRIDS]; /* the same in the order in which they get places */
    uint32_t n_on, most_on;
    uint64_t next_arrival;  /* machine cycle in which work of the queue may start */
    uint64_t last_end;      /* of launches so far, in machine cycles */
    bool has_finished;      /* all blocks of a launch have ended since the last change */
    bool needs_fill;        /* other launches may have room now */
    struct stats_mem shown; /* the L2 and DRAM when their counters were last divided */
    uint64_t shown_ns;      /* the host's clock at that time */
    struct gpu_part *all;
};

enum { MEM_COUNTERS = sizeof(struct stats_mem) / sizeof(uint64_t) };

static uint64_t to_timeline(const struct gpu_run *run, uint64_t cycle) { return cycle + run->timed->shift; }

/* Times before the machine's are shown as now. */
static uint64_t to_machine(const struct gpu_run *run, uint64_t time, uint64_t now) {
    uint64_t shown = to_timeline(run, now);
    return time == UINT64_MAX ? SM_NEVER : time > shown ? now + (time - shown) : now;
}

/* --- counters of the memory --- */

static struct stats_mem partitions_of(const struct gpu_timed *timed) {
    struct stats_mem sum = *mem_counters(timed->mem);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        const uint64_t *own = (const uint64_t *)mem_sm_counters(timed->mem, i);
        for (int k = 0; k < MEM_COUNTERS; k++)
            ((uint64_t *)&sum)[k] -= own[k];
    }
    return sum;
}

static struct stats_counters share_of(const struct gpu_run *run, const struct gpu_part *part) {
    struct stats_counters share = {0};
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        sm_add_share(run->timed->sm[i], part->k, &share);
    return share;
}

static uint64_t traffic_of(const struct stats_counters *share) {
    return share->l1_misses + share->l1_writes + share->atomics + share->uncached_reads + share->texture_misses +
           share->icache_misses;
}

/* The launches that ran share the host's time since the last call equally. */
static void divide_host_time(struct gpu_run *run) {
    struct gpu_together *together = run->together;
    uint64_t now = gpu_host_clock_ns();
    for (uint32_t i = 0; i < together->n_on; i++)
        run->gpu->launch[together->order[i]->number].host_seconds +=
            (double)(now - together->shown_ns) * 1e-9 / together->n_on;
    together->shown_ns = now;
}

/* Divides what the L2 and DRAM have counted since the last call among the launches that ran. */
static void divide_memory(struct gpu_run *run) {
    struct gpu_together *together = run->together;
    divide_host_time(run);
    struct stats_mem now = partitions_of(run->timed);
    uint64_t weight[SM_MOST_GRIDS], sum = 0;
    for (uint32_t i = 0; i < together->n_on; i++) {
        struct stats_counters share = share_of(run, together->order[i]);
        weight[i] = traffic_of(&share) - together->order[i]->traffic;
        together->order[i]->traffic += weight[i];
        sum += weight[i];
    }
    for (int k = 0; k < MEM_COUNTERS && together->n_on; k++) {
        uint64_t *shown = &((uint64_t *)&together->shown)[k];
        uint64_t whole = ((const uint64_t *)&now)[k] - *shown, left = whole;
        for (uint32_t i = 1; i < together->n_on; i++) {
            uint64_t part = sum ? (uint64_t)((unsigned __int128)whole * weight[i] / sum) : 0;
            ((uint64_t *)&together->order[i]->memory)[k] += part;
            left -= part;
        }
        ((uint64_t *)&together->order[0]->memory)[k] += left;
        *shown += whole;
    }
}

/* --- launches come and go --- */

static void put_in_order(struct gpu_together *together, struct gpu_part *part) {
    uint32_t at = together->n_on++;
    for (; at && together->order[at - 1]->task->launch.priority > part->task->launch.priority; at--)
        together->order[at] = together->order[at - 1];
    together->order[at] = part;
}

/* --- observers --- */

/* Begins to observe a launch that the SMs know. */
static void observe(struct gpu_run *run, struct gpu_part *part) {
    const struct gpu_timed *timed = run->timed;
    const struct gpu_config *config = &run->gpu->config;
    if (config->sample_cycles)
        gpu_sampler_start(&part->sampler, &part->series, timed->sm, timed->machine.sm.count, part->k, timed->mem,
                          part->first_cycle, config->sample_cycles, config->most_samples);
    if (config->sample_cycles && part->grid.profile && part->grid.profile->line && !timed->trace)
        part->sampler.lines = gpu_line_sampler_new(&part->grid, config->most_samples);
    if (timed->trace)
        gpu_trace_begin_launch(timed->trace, part->number + 1, part->task->launch.stream, &part->grid,
                               part->first_cycle);
}

static void end_observation(struct gpu_run *run, struct gpu_part *part, uint64_t cycle) {
    struct gpu_timed *timed = run->timed;
    if (part->sampler.series)
        gpu_sampler_end(&part->sampler, cycle);
    run->gpu->launch[part->number].series = part->series;
    if (timed->trace)
        gpu_trace_end_launch(timed->trace, &part->grid, part->end_cycle);
}

void gpu_sample_parts(struct gpu_run *run, uint64_t cycle) {
    for (uint32_t i = 0; i < run->together->n_on; i++)
        if (run->together->order[i]->sampler.series)
            gpu_sampler_advance(&run->together->order[i]->sampler, cycle);
}

/* Makes the launch a part of the run. Its blocks may start from now on. */
static struct gpu_part *add_part(struct gpu_run *run, struct gpu_task *task, uint64_t first, uint64_t cycle) {
    struct gpu_together *together = run->together;
    struct gpu_part *part = base_allocate(1, sizeof *part);
    part->task = task;
    if (!gpu_begin_launch(run->gpu, &task->launch, 0, &part->grid, &part->number, run->error)) {
        fputs("heddle: the host has no memory left\n", stderr);
        abort();
    }
    while (together->on[part->k])
        part->k++;
    part->n_blocks = exec_shape_blocks(&part->grid.shape);
    part->first_cycle = first;
    part->joined_cycle = cycle;
    part->next_start = (double)(first + run->timed->machine.launch.start_cycles);
    part->next = together->all;
    together->all = part;
    together->on[part->k] = part;
    put_in_order(together, part);
    task->state = GPU_TASK_RUNS;
    run->n_blocks += part->n_blocks;
    together->needs_fill = true;
    gpu_show_remark(run->timed, &part->grid, run->gpu->launch[part->number].kernel);
    return part;
}

static void join(struct gpu_run *run, struct gpu_task *task, uint64_t first, uint64_t cycle) {
    struct gpu_part *part = add_part(run, task, first, cycle);
    const struct sm_program *costs = gpu_costs_of(run->timed, task->launch.kernel);
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        sm_join_grid(run->timed->sm[i], part->k, &part->grid, costs, cycle);
    observe(run, part);
}

/* Sets the end of a launch whose blocks have all ended: when the memory it has written is up to date. */
static void set_end(struct gpu_run *run, struct gpu_part *part) {
    const struct gpu_timed *timed = run->timed;
    struct stats_counters share = share_of(run, part);
    uint64_t drain = share.long_instructions ? gpu_drain_cycles(&timed->machine, part->n_blocks) : 0;
    uint64_t host = mem_host_idle(timed->mem);
    part->end_cycle = part->last_cycle + drain;
    if (host > part->end_cycle)
        part->end_cycle = host;
    part->has_ended = true;
    part->task->end = to_timeline(run, part->end_cycle);
    part->task->state = GPU_TASK_ENDED;
    if (part->end_cycle > run->together->last_end)
        run->together->last_end = part->end_cycle;
}

static void add_to_timeline(struct gpu_run *run, const struct gpu_part *part) {
    struct gpu *gpu = run->gpu;
    const struct gpu_work work = {
        .kind = GPU_WORK_KERNEL,
        .stream = part->task->launch.stream,
        .launch = part->number + 1,
        .share = gpu_share_of(gpu, &part->task->launch),
        .first = to_timeline(run, part->first_cycle),
        .end = to_timeline(run, part->end_cycle),
    };
    gpu_timed_note_work(gpu->timed, gpu_timeline_note(gpu->timeline, &work), gpu->launch[part->number].kernel);
}

/* Takes a launch off the machine and completes its record. Memory has been divided. */
static void leave(struct gpu_run *run, struct gpu_part *part, uint64_t cycle) {
    struct gpu_together *together = run->together;
    struct gpu_timed *timed = run->timed;
    struct gpu_launch_record *record = &run->gpu->launch[part->number];
    uint32_t at = 0;
    run->grid = &part->grid;
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_show_grid(timed->sm[i], part->k, cycle);
    gpu_find_hot_lines(run, record);
    end_observation(run, part, cycle);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++)
        sm_leave_grid(timed->sm[i], part->k, cycle, &record->counters, record->active_lanes);
    stats_add_mem(&record->counters, &part->memory);
    record->counters.cycles = part->end_cycle - part->first_cycle;
    gpu_count_energy(&timed->machine.energy, &record->counters);
    add_to_timeline(run, part);
    gpu_end_launch(run->gpu, &part->task->launch, &part->grid, record);
    while (together->order[at] != part)
        at++;
    memmove(&together->order[at], &together->order[at + 1], (--together->n_on - at) * sizeof(struct gpu_part *));
    together->on[part->k] = NULL;
}

static uint32_t count_running(const struct gpu_together *together) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < together->n_on; i++)
        n += !together->order[i]->has_ended;
    return n;
}

/* --- blocks --- */

/* Returns the launch whose blocks start next, or NULL. */
static struct gpu_part *first_in_line(const struct gpu_together *together) {
    for (uint32_t i = 0; i < together->n_on; i++)
        if (together->order[i]->next_block < together->order[i]->n_blocks)
            return together->order[i];
    return NULL;
}

static void start_block(struct gpu_run *run, struct gpu_part *part, uint32_t i, uint64_t cycle) {
    struct gpu_timed *timed = run->timed;
    uint64_t start = gpu_start_of_block(&timed->machine.launch, &part->next_start, part->joined_cycle, cycle);
    sm_start_block_of(timed->sm[i], part->k, (uint32_t)part->next_block++, start, cycle);
    run->next_block++;
    timed->unit[i].clock.wake = cycle + 1;
}

void gpu_take_parts_turn(struct gpu_run *run, uint32_t i, uint64_t cycle) {
    struct gpu_together *together = run->together;
    struct sm *sm = run->timed->sm[i];
    const struct gpu_part *before = first_in_line(together);
    struct gpu_part *part;
    for (uint32_t k = 0; k < together->n_on; k++) {
        part = together->order[k];
        uint32_t n = sm_take_ended(sm, part->k);
        part->n_finished += n;
        if (n)
            part->last_cycle = cycle;
        together->has_finished |= n && part->n_finished == part->n_blocks;
    }
    while ((part = first_in_line(together)) && sm_has_room_for(sm, part->k))
        start_block(run, part, i, cycle);
    together->needs_fill |= part && part != before; /* other SMs may have room for the next launch */
}

/* Starts one block on each SM in turn while there is room. Returns whether there was any. */
static bool fill(struct gpu_run *run, uint64_t cycle) {
    bool has_started = true, has_started_any = false;
    while (has_started) {
        struct gpu_part *part;
        has_started = false;
        for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
            if ((part = first_in_line(run->together)) && sm_has_room_for(run->timed->sm[i], part->k)) {
                start_block(run, part, i, cycle);
                has_started = has_started_any = true;
            }
    }
    return has_started_any;
}

/* --- between rounds --- */

static void end_parts(struct gpu_run *run) {
    for (uint32_t i = 0; i < run->together->n_on; i++) {
        struct gpu_part *part = run->together->order[i];
        if (!part->has_ended && part->n_finished == part->n_blocks)
            set_end(run, part);
    }
}

static void leave_ended(struct gpu_run *run, uint64_t cycle) {
    struct gpu_together *together = run->together;
    divide_memory(run);
    for (uint32_t i = together->n_on; i-- > 0;)
        if (together->order[i]->has_ended)
            leave(run, together->order[i], cycle);
}

/* Shows the limits of a run the launch that has run longest. */
static void show_oldest(struct gpu_run *run) {
    const struct gpu_together *together = run->together;
    const struct gpu_part *oldest = together->order[0];
    for (uint32_t i = 1; i < together->n_on; i++)
        if (together->order[i]->first_cycle < oldest->first_cycle)
            oldest = together->order[i];
    run->grid = &oldest->grid;
    run->first_cycle = oldest->first_cycle < oldest->joined_cycle ? oldest->first_cycle : oldest->joined_cycle;
}

/* Lets the launches begin that may by this cycle. */
static void begin_parts(struct gpu_run *run, uint64_t cycle) {
    struct gpu_together *together = run->together;
    uint64_t next = UINT64_MAX;
    struct gpu_task *task = NULL;
    uint32_t n_running = count_running(together);
    together->next_arrival = SM_NEVER;
    while (n_running < together->most_on && (task = gpu_queue_next(together->queue, to_timeline(run, cycle), &next))) {
        uint64_t free = n_running + 1 == together->most_on ? together->last_end : 0;
        uint64_t first = to_machine(run, task->launch.ready, run->first_cycle);
        if (together->n_on > n_running) /* those that have ended make room */
            leave_ended(run, cycle ? cycle - 1 : 0);
        else
            divide_memory(run);
        join(run, task, first > free ? first : free, cycle); /* the end that it waits for may be ahead */
        n_running++;
    }
    if (n_running < together->most_on)
        together->next_arrival = to_machine(run, next, cycle);
    if (n_running && together->n_on > n_running)
        leave_ended(run, cycle ? cycle - 1 : 0);
}

bool gpu_change_parts(struct gpu_run *run, uint64_t cycle) {
    struct gpu_together *together = run->together;
    if (!together->has_finished && !together->needs_fill && together->next_arrival > cycle)
        return false;
    bool has_changed = together->has_finished || together->next_arrival <= cycle;
    if (together->has_finished)
        end_parts(run);
    together->has_finished = false;
    if (has_changed)
        begin_parts(run, cycle);
    show_oldest(run);
    together->needs_fill = false;
    return fill(run, cycle);
}

/* --- the run --- */

static void prepare(struct gpu_run *run, struct gpu_part *part) {
    struct gpu_timed *timed = run->timed;
    const struct gpu_launch *launch = &part->task->launch;
    const struct sm_program *costs = gpu_costs_of(timed, launch->kernel);
    uint64_t shared = gpu_queue_shared_bytes(run->gpu, launch);
    gpu_begin_run(run);
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        sm_begin_grid(timed->sm[i], &part->grid, costs);
        sm_share_grid(timed->sm[i]);
    }
    mem_resize_l1(timed->mem, config_l1_bytes(&timed->machine, shared));
    run->together->shown = partitions_of(timed);
    if (timed->trace)
        gpu_trace_begin(timed->trace, timed->sm, timed->mem, run->first_cycle);
    observe(run, part);
}

/* Ends the launches that are still on the machine: the last ones, or all if one has failed. */
static void end(struct gpu_run *run, bool is_done) {
    struct gpu_together *together = run->together;
    struct gpu_timed *timed = run->timed;
    gpu_progress_end(&run->progress);
    gpu_livelock_free(run->livelock);
    fflush(stdout); /* device printf */
    if (is_done) {
        gpu_check_end(run);
        gpu_drain(timed, together->last_end > timed->cycle ? together->last_end : timed->cycle);
    }
    gpu_catch_up(timed);
    mem_flush_l1(timed->mem, timed->cycle);
    divide_memory(run);
    while (together->n_on) {
        struct gpu_part *part = together->order[together->n_on - 1];
        if (!part->has_ended) {
            part->end_cycle = timed->cycle > part->first_cycle ? timed->cycle : part->first_cycle;
            part->task->end = to_timeline(run, part->end_cycle);
        }
        leave(run, part, timed->cycle);
    }
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        sm_end_grid(timed->sm[i]);
        timed->unit[i].clock.wake = SM_NEVER;
    }
    if (timed->trace)
        gpu_trace_end(timed->trace, timed->cycle);
    for (struct gpu_part *part = together->all, *next; part; part = next) {
        next = part->next;
        free(part);
    }
    if (!is_done)
        gpu_renew(timed);
}

bool gpu_run_together(struct gpu *gpu, struct gpu_task *first, struct gpu_error *error) {
    struct gpu_timed *timed = gpu->timed;
    const struct gpu_work work = {.kind = GPU_WORK_KERNEL, .share = gpu_share_of(gpu, &first->launch)};
    struct gpu_together *together = base_allocate(1, sizeof *together);
    bool is_observed = timed->trace || gpu->config.records_lines;
    struct gpu_run run = {
        .gpu = gpu,
        .timed = timed,
        .error = error,
        .first_cycle = timed->cycle,
        .most_cycles = timed->machine.limits.max_cycles ? timed->machine.limits.max_cycles : UINT64_MAX,
        .next_look = GPU_CHECK_EVERY,
        .has_series = gpu->config.sample_cycles || timed->trace,
        .is_observed = is_observed,
        .is_watched = is_observed || gpu->config.check_every,
        .together = together,
    };
    uint32_t most = timed->machine.launch.concurrent;
    together->queue = gpu->queue;
    together->shown_ns = gpu_host_clock_ns();
    together->most_on = most < SM_MOST_GRIDS / 2 ? most : SM_MOST_GRIDS / 2;
    gpu_timed_begin_work(timed, gpu_timeline_start(gpu->timeline, &work, first->launch.ready));
    struct gpu_part *part = add_part(&run, first, timed->cycle, timed->cycle);
    run.grid = &part->grid;
    prepare(&run, part);
    bool is_done = gpu_run_rounds(&run);
    end(&run, is_done);
    free(together);
    return is_done;
}
