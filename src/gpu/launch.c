/* Runs a launch to its end and records it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/machine.h"
#include "exec/profile.h"
#include "gpu/checkpoint.h"
#include "gpu/internal.h"
#include "gpu/sections.h"
#include "gpu/timed.h"
#include "gpu/timeline.h"

struct gpu_launch_record *gpu_record_new(struct gpu *gpu) {
    if (gpu->n_launches == gpu->launch_capacity) {
        uint32_t capacity = gpu->launch_capacity ? 2 * gpu->launch_capacity : 64;
        struct gpu_launch_record *larger = realloc(gpu->launch, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        gpu->launch = larger;
        gpu->launch_capacity = capacity;
    }
    return &gpu->launch[gpu->n_launches++];
}

const char *gpu_keep_name(struct gpu *gpu, const char *name) {
    for (uint32_t i = 0; i < gpu->n_kernel_names; i++)
        if (strcmp(gpu->kernel_name[i], name) == 0)
            return gpu->kernel_name[i];
    char **larger = realloc(gpu->kernel_name, (gpu->n_kernel_names + 1) * sizeof *larger);
    char *copy = strdup(name);
    if (!larger || !copy)
        abort();
    gpu->kernel_name = larger;
    return larger[gpu->n_kernel_names++] = copy;
}

/* The totals leave out launches that ran untimed on a timed machine. */
void gpu_add_to_totals(struct gpu *gpu, const struct gpu_launch_record *record) {
    if (record->is_timed || !gpu->timed)
        stats_add(&gpu->totals, &record->counters);
}

/* Prepares the memory to which %envreg1 and %envreg2 of a cooperative grid point, in the layout that cooperative_groups
 * expects: its size in bytes, then the word in which grid barriers count, which starts at 0. */
static uint64_t prepare_workspace(struct gpu *gpu) {
    enum { WORKSPACE_BYTES = 256 };
    if (!gpu->workspace)
        gpu->workspace = gpu_malloc(gpu, WORKSPACE_BYTES, WORKSPACE_BYTES);
    if (!gpu->workspace)
        return 0;
    uint32_t *word = (uint32_t *)(void *)gpu_host(gpu, gpu->workspace, WORKSPACE_BYTES);
    memset(word, 0, WORKSPACE_BYTES);
    word[0] = WORKSPACE_BYTES;
    return gpu->workspace;
}

static struct gpu_occupancy occupancy_of(const struct config_machine *machine, const struct exec_grid *grid) {
    const struct config_capacity sm = config_capacity_of(machine);
    const struct config_demand block = {exec_shape_threads(&grid->shape), grid->program->registers_per_thread,
                                        grid->shared_bytes};
    uint32_t blocks = config_occupancy(&sm, &block, NULL);
    struct gpu_occupancy occupancy = {
        .registers_per_thread = block.registers_per_thread,
        .shared_bytes = block.shared_bytes,
        .blocks = blocks,
        .warps = blocks * ((block.threads + sm.warp_size - 1) / sm.warp_size),
        .most_warps = sm.threads / sm.warp_size,
    };
    occupancy.limiter = config_occupancy_limits(&sm, &block, occupancy.blocks_by);
    return occupancy;
}

bool gpu_begin_launch(struct gpu *gpu, const struct gpu_launch *launch, uint64_t workspace, struct exec_grid *grid,
                      uint32_t *number, struct gpu_error *error) {
    struct gpu_launch_record *record = gpu_record_new(gpu);
    if (!record) {
        *error = (struct gpu_error){GPU_OUT_OF_MEMORY, "the host has no memory left"};
        return false;
    }
    const struct exec_program *program = launch->kernel->program;
    *number = gpu->n_launches - 1;
    *grid = (struct exec_grid){
        .program = program,
        .memory = &gpu->memory.view,
        .parameters = launch->parameters,
        .parameter_bytes = program->parameter_bytes,
        .shape = launch->shape,
        .shared_bytes = program->dynamic_shared_offset + launch->shape.dynamic_shared_bytes,
        .local_bytes = (program->local_bytes + (exec_needs_stack(program) ? gpu->config.stack_bytes : 0) + 15) & ~15u,
        .grid_id = ++gpu->n_grids,
        .workspace = workspace,
        .n_sms = gpu->config.n_sms,
        .warp_size = EXEC_LANES,
        .warps_per_sm = gpu->config.sm.threads / EXEC_LANES,
        .check = gpu_check_new(gpu),
    };
    *record = (struct gpu_launch_record){.kernel = gpu_keep_name(gpu, program->name), .shape = launch->shape};
    record->is_timed =
        gpu->timed && !launch->is_untimed && (!gpu->sections || gpu_sections_time(gpu->sections, record->kernel, grid));
    if (record->is_timed) {
        grid->timer_shift = gpu_timed_shift(gpu->timed);
        grid->cycles_per_ns = gpu->config.machine->clock_ghz;
        grid->warp_size = gpu->config.machine->sm.warp_size;
    }
    uint32_t n_threads = exec_shape_threads(&grid->shape);
    if (record->is_timed || gpu->sections)
        record->occupancy = occupancy_of(gpu->config.machine, grid);
    if (gpu->config.records_threads || gpu->config.records_lines)
        grid->profile = exec_profile_new(program, n_threads, exec_shape_blocks(&grid->shape) * n_threads,
                                         gpu->config.records_lines);
    return true;
}

void gpu_end_launch(struct gpu *gpu, const struct gpu_launch *launch, const struct exec_grid *grid,
                    struct gpu_launch_record *record) {
    gpu_live_end(gpu);
    gpu_strays_report(gpu, launch->kernel, grid);
    gpu_check_report(gpu, launch->kernel, grid);
    gpu_add_to_totals(gpu, record);
    if (gpu->config.records_threads)
        gpu_profile_add(gpu, grid, record->kernel);
    if (gpu->config.records_lines && (record->is_timed || !gpu->timed)) /* as in the totals */
        gpu_lines_add(gpu, grid, record->kernel);
    exec_profile_free(grid->profile);
    if (gpu->timed)
        gpu->time_ns = gpu_timed_ns(gpu->timed);
    else /* a substitute that only orders events: every SM retires one warp instruction per cycle */
        gpu->time_ns += record->counters.warp_instructions * 1000000u / gpu->config.n_sms / gpu->config.clock_khz + 1;
}

/* Runs a launch that has passed the checks, then those that its kernel has made. */
static bool run(struct gpu *gpu, const struct gpu_launch *launch, uint64_t workspace, struct gpu_error *error) {
    struct exec_grid grid;
    uint32_t number;
    if (!gpu_begin_launch(gpu, launch, workspace, &grid, &number, error))
        return false;
    struct gpu_launch_record *record = &gpu->launch[number];
    uint64_t start = gpu_host_clock_ns();
    if (gpu->sections)
        gpu_sections_begin(gpu->sections, launch->kernel, &grid, number);
    bool is_done = record->is_timed ? gpu_run_timed(gpu, launch->kernel, &grid, NULL, record, error)
                                    : gpu_run_functional(gpu, &grid, &record->counters, &record->warmed, error);
    if (gpu->sections)
        gpu_sections_end(gpu->sections, is_done, &record->counters, &record->warmed);
    record->host_seconds = (double)(gpu_host_clock_ns() - start) * 1e-9;
    gpu_end_launch(gpu, launch, &grid, record);
    return is_done ? gpu_run_children(gpu, launch->is_untimed, error) : is_done;
}

double gpu_share_of(const struct gpu *gpu, const struct gpu_launch *launch) {
    uint32_t n_threads = exec_shape_threads(&launch->shape);
    double places = (double)gpu_kernel_occupancy(gpu, launch->kernel, n_threads, launch->shape.dynamic_shared_bytes) *
                    gpu->config.n_sms;
    double blocks = (double)exec_shape_blocks(&launch->shape);
    return blocks < places ? blocks / places : 1;
}

/* Adds the launches from number `first` on to the timeline: a kernel, and those that it has launched, one after the
 * other. */
static void add_to_timeline(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_work *work, uint32_t first) {
    uint64_t ready = launch->ready;
    for (uint32_t i = first; i < gpu->n_launches; i++) {
        const struct gpu_launch_record *record = &gpu->launch[i];
        if (!record->is_timed)
            continue;
        work->launch = i + 1;
        work->n_cycles = record->counters.cycles;
        const struct gpu_work *added = gpu_timeline_add(gpu->timeline, work, ready);
        gpu_timed_note_work(gpu->timed, added, record->kernel);
        ready = added->end;
    }
}

static bool run_or_replay(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    *error = (struct gpu_error){.status = GPU_OK};
    if (!gpu_check_launch(gpu, launch, error))
        return false;
    uint64_t workspace = launch->shape.is_cooperative ? prepare_workspace(gpu) : 0;
    if (launch->shape.is_cooperative && !workspace) {
        *error = (struct gpu_error){GPU_OUT_OF_MEMORY, "no device memory left for a cooperative launch"};
        return false;
    }
    bool is_kept = gpu->checkpoint && !gpu->n_nested; /* a kernel's own launches are part of its launch */
    if (is_kept && gpu_checkpoint_replay(gpu, launch, error)) {
        launch->kernel->has_run = true;
        return error->status == GPU_OK;
    }
    bool is_done = run(gpu, launch, workspace, error);
    launch->kernel->has_run = true;
    if (is_kept)
        gpu_checkpoint_add(gpu, error);
    return is_done;
}

/* Adds the kernel's own cluster to the launch. */
static struct gpu_launch with_cluster(const struct gpu_launch *launch) {
    const struct ptx_function *function = launch->kernel->function;
    struct gpu_launch complete = *launch;
    for (int i = 0; i < 3 && function->cluster[0]; i++) {
        if (!launch->shape.cluster[0])
            complete.shape.cluster[i] = function->cluster[i];
        if (function->blocks_are_clusters)
            complete.shape.grid[i] *= function->cluster[i];
    }
    return complete;
}

bool gpu_launch(struct gpu *gpu, const struct gpu_launch *given, struct gpu_error *error) {
    const struct gpu_launch complete = with_cluster(given), *launch = &complete;
    bool is_on_timeline = gpu->timeline && !gpu->n_nested;
    if (!gpu->n_nested)
        gpu->stream = launch->stream;
    uint32_t first = gpu->n_launches;
    struct gpu_work work = {.kind = GPU_WORK_KERNEL, .stream = launch->stream};
    if (is_on_timeline) {
        work.share = gpu_share_of(gpu, launch);
        gpu_timed_begin_work(gpu->timed, gpu_timeline_start(gpu->timeline, &work, launch->ready));
    }
    bool is_done = run_or_replay(gpu, launch, error);
    if (is_on_timeline)
        add_to_timeline(gpu, launch, &work, first);
    return is_done;
}
