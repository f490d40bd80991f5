/* A launch: checks it against the device and the kernel, runs it to its end, records it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/machine.h"
#include "exec/profile.h"
#include "gpu/checkpoint.h"
#include "gpu/internal.h"
#include "gpu/timed.h"

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t gpu_kernel_occupancy(const struct gpu *gpu, const struct gpu_kernel *kernel, uint32_t threads,
                              uint32_t dynamic_shared) {
    const struct gpu_config *config = &gpu->config;
    uint32_t rows = (threads + EXEC_LANES - 1) / EXEC_LANES;
    uint32_t shared = kernel->program->dynamic_shared_offset + dynamic_shared + config->shared_bytes_reserved;
    uint32_t registers = rows * EXEC_LANES * kernel->program->registers_per_thread;
    if (rows == 0)
        return 0;
    uint32_t blocks = least(config->blocks_per_sm, config->threads_per_sm / (rows * EXEC_LANES));
    if (shared)
        blocks = least(blocks, config->shared_bytes_per_sm / shared);
    if (registers)
        blocks = least(blocks, config->registers_per_sm / registers);
    return blocks;
}

static bool refuse(struct gpu_error *error, enum gpu_status status, const char *kernel, const char *what,
                   unsigned long long value, unsigned long long limit) {
    error->status = status;
    snprintf(error->message, sizeof error->message, "kernel '%s': %s is %llu; at most %llu is possible", kernel, what,
             value, limit);
    return false;
}

static bool check_shape(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    const struct ptx_function *function = launch->kernel->function;
    const struct gpu_config *config = &gpu->config;
    uint64_t n_threads = 1, n_blocks = 1;
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i]) {
            error->status = GPU_INVALID_VALUE;
            snprintf(error->message, sizeof error->message, "kernel '%s': grid and block dimensions must not be zero",
                     function->name);
            return false;
        }
        n_threads *= launch->block[i];
        n_blocks *= launch->grid[i];
        if (launch->grid[i] > (i ? 65535u : 0x7fffffffu))
            return refuse(error, GPU_INVALID_VALUE, function->name,
                          i == 1 ? "grid y"
                          : i    ? "grid z"
                                 : "grid x",
                          launch->grid[i], i ? 65535 : 0x7fffffff);
        if (function->required_threads[i] && launch->block[i] != function->required_threads[i])
            return refuse(error, GPU_INVALID_VALUE, function->name, "a block dimension (see .reqntid)",
                          launch->block[i], function->required_threads[i]);
    }
    if (n_blocks > 0xffffffffu)
        return refuse(error, GPU_INVALID_VALUE, function->name, "the number of blocks", n_blocks, 0xffffffffu);
    if (n_threads > config->threads_per_block || launch->block[2] > 64)
        return refuse(error, GPU_INVALID_VALUE, function->name, "the number of threads in a block", n_threads,
                      config->threads_per_block);
    uint64_t max_threads = 1;
    for (int i = 0; i < 3; i++)
        max_threads *= function->max_threads[i] ? function->max_threads[i] : 1;
    if (function->max_threads[0] && n_threads > max_threads)
        return refuse(error, GPU_INVALID_VALUE, function->name, "the number of threads in a block (see .maxntid)",
                      n_threads, max_threads);
    uint64_t shared = (uint64_t)launch->kernel->program->dynamic_shared_offset + launch->dynamic_shared_bytes;
    if (shared > config->shared_bytes_per_block_optin)
        return refuse(error, GPU_LAUNCH_OUT_OF_RESOURCES, function->name, "shared memory in bytes", shared,
                      config->shared_bytes_per_block_optin);
    if (launch->parameter_bytes < launch->kernel->program->parameter_bytes)
        return refuse(error, GPU_INVALID_VALUE, function->name, "the size of its parameters in bytes",
                      launch->kernel->program->parameter_bytes, launch->parameter_bytes);
    return true;
}

/* Code that relies on warps of 32 threads is wrong on a machine with narrower warps. */
static bool check_warps(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    const struct config_machine *machine = gpu->config.machine;
    const struct exec_program *program = launch->kernel->program;
    if (!machine || launch->is_untimed || machine->sm.warp_size == EXEC_LANES || !program->uses_warps)
        return true;
    error->status = GPU_NOT_SUPPORTED;
    snprintf(error->message, sizeof error->message,
             "kernel '%s' uses warp-wide instructions, which need warps of 32; machine '%s' has warps of %u",
             program->name, machine->name, machine->sm.warp_size);
    return false;
}

static bool check_matrix_unit(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    const struct config_machine *machine = gpu->config.machine;
    const struct exec_program *program = launch->kernel->program;
    char name[80];
    if (!machine || launch->is_untimed || machine->matrix.is_present || !program->first_multiplication)
        return true;
    error->status = GPU_NOT_SUPPORTED;
    snprintf(
        error->message, sizeof error->message,
        "kernel '%s' multiplies matrices (line %u: %s), and machine '%s' has no unit for that: set matrix.rate, or "
        "run it with --functional",
        program->name, program->first_multiplication->at.line,
        ptx_instruction_name(program->first_multiplication, name, sizeof name), machine->name);
    return false;
}

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

const char *gpu_keep_kernel_name(struct gpu *gpu, const char *name) {
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

static uint64_t n_threads(const struct exec_grid *grid) {
    uint64_t n = 1;
    for (int i = 0; i < 3; i++)
        n *= (uint64_t)grid->grid[i] * grid->block[i];
    return n;
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

/* Runs a launch that has passed the checks, then those that its kernel has made. */
static bool run(struct gpu *gpu, const struct gpu_launch *launch, uint64_t workspace, struct gpu_error *error) {
    bool is_timed = gpu->timed && !launch->is_untimed;
    struct gpu_launch_record *record = gpu_record_new(gpu);
    if (!record) {
        *error = (struct gpu_error){GPU_OUT_OF_MEMORY, "the host has no memory left"};
        return false;
    }
    const struct exec_program *program = launch->kernel->program;
    struct exec_grid grid = {
        .program = program,
        .memory = &gpu->memory.view,
        .parameters = launch->parameters,
        .parameter_bytes = program->parameter_bytes,
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .shared_bytes = program->dynamic_shared_offset + launch->dynamic_shared_bytes,
        .local_bytes = (program->local_bytes + (exec_needs_stack(program) ? gpu->config.stack_bytes : 0) + 15) & ~15u,
        .grid_id = ++gpu->n_grids,
        .workspace = workspace,
        .n_sms = gpu->config.n_sms,
        .warp_size = is_timed ? gpu->config.machine->sm.warp_size : EXEC_LANES,
        .warps_per_sm = gpu->config.threads_per_sm / EXEC_LANES,
    };
    *record = (struct gpu_launch_record){.kernel = gpu_keep_kernel_name(gpu, program->name), .is_timed = is_timed};
    for (int i = 0; i < 3; i++) {
        grid.grid[i] = record->grid[i] = launch->grid[i];
        grid.block[i] = record->block[i] = launch->block[i];
    }
    if (gpu->config.records_threads || gpu->config.records_lines)
        grid.profile = exec_profile_new(program, grid.block[0] * grid.block[1] * grid.block[2], n_threads(&grid),
                                        gpu->config.records_lines);
    uint64_t start = gpu_host_clock_ns();
    bool is_done = is_timed ? gpu_run_timed(gpu, gpu->timed, &grid, record, error)
                            : gpu_run_functional(gpu, &grid, &record->counters, error);
    record->host_seconds = (double)(gpu_host_clock_ns() - start) * 1e-9;
    gpu_add_to_totals(gpu, record);
    if (gpu->config.records_threads)
        gpu_profile_add(gpu, &grid, record->kernel);
    if (gpu->config.records_lines && (is_timed || !gpu->timed)) /* as in the totals */
        gpu_lines_add(gpu, &grid, record->kernel);
    exec_profile_free(grid.profile);
    if (gpu->timed)
        gpu->time_ns = gpu_timed_ns(gpu->timed);
    else /* a substitute that only orders events: every SM retires one warp instruction per cycle */
        gpu->time_ns += record->counters.warp_instructions * 1000000u / gpu->config.n_sms / gpu->config.clock_khz + 1;
    return is_done ? gpu_run_children(gpu, launch->is_untimed, error) : is_done;
}

bool gpu_launch(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    *error = (struct gpu_error){.status = GPU_OK};
    if (!check_shape(gpu, launch, error) || !check_warps(gpu, launch, error) || !check_matrix_unit(gpu, launch, error))
        return false;
    uint64_t workspace = launch->is_cooperative ? prepare_workspace(gpu) : 0;
    if (launch->is_cooperative && !workspace) {
        *error = (struct gpu_error){GPU_OUT_OF_MEMORY, "no device memory left for a cooperative launch"};
        return false;
    }
    bool is_kept = gpu->checkpoint && !gpu->n_nested; /* a kernel's own launches are part of its launch */
    if (is_kept && gpu_checkpoint_replay(gpu, launch, error))
        return error->status == GPU_OK;
    bool is_done = run(gpu, launch, workspace, error);
    if (is_kept)
        gpu_checkpoint_add(gpu, error);
    return is_done;
}
