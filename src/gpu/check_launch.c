/* Checks a launch against the device, the kernel, the machine and the divergence model. Every launch goes through this
 * check, whether a program, a graph or a kernel makes it. No later step rejects a launch. */
#include <stdio.h>

#include "config/machine.h"
#include "config/occupancy.h"
#include "gpu/internal.h"
#include "gpu/timed.h"

uint32_t gpu_kernel_occupancy(const struct gpu *gpu, const struct gpu_kernel *kernel, uint32_t threads,
                              uint32_t dynamic_shared) {
    const struct config_demand block = {
        .threads = threads,
        .registers_per_thread = kernel->program->registers_per_thread,
        .shared_bytes = kernel->program->dynamic_shared_offset + dynamic_shared,
    };
    return config_occupancy(&gpu->config.sm, &block, NULL);
}

bool gpu_is_refusal(enum gpu_status status) {
    switch (status) {
    case GPU_INVALID_VALUE:
    case GPU_INVALID_SHAPE:
    case GPU_OUT_OF_MEMORY:
    case GPU_INVALID_PTX:
    case GPU_NOT_FOUND:
    case GPU_LAUNCH_OUT_OF_RESOURCES:
    case GPU_COOPERATIVE_TOO_LARGE:
    case GPU_INVALID_CLUSTER:
    case GPU_NOT_SUPPORTED:
        return true;
    default:
        return false;
    }
}

/* Refuses a launch with a formatted reason. */
#define REFUSE(error, reason, ...)                                                                                     \
    ((error)->status = (reason), snprintf((error)->message, sizeof(error)->message, __VA_ARGS__), false)

static bool refuse(struct gpu_error *error, enum gpu_status status, const char *kernel, const char *what,
                   unsigned long long value, unsigned long long limit) {
    return REFUSE(error, status, "kernel '%s': %s is %llu; at most %llu is possible", kernel, what, value, limit);
}

/* Grid and block: the limits of the device. */
static bool check_shape(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    static const char *const name[] = {"grid x", "grid y", "grid z"};
    static const uint32_t most_blocks[] = {GPU_MAX_GRID_X, GPU_MAX_GRID_Y, GPU_MAX_GRID_Z};
    static const uint32_t most_threads[] = {GPU_MAX_BLOCK_X, GPU_MAX_BLOCK_Y, GPU_MAX_BLOCK_Z};
    const struct exec_shape *shape = &launch->shape;
    const char *kernel = launch->kernel->function->name;
    uint64_t n_threads = 1, n_blocks = 1;
    bool is_block = true;
    for (int i = 0; i < 3; i++) {
        if (!shape->grid[i] || !shape->block[i])
            return REFUSE(error, GPU_INVALID_SHAPE, "kernel '%s': grid and block dimensions must not be zero", kernel);
        if (shape->grid[i] > most_blocks[i])
            return refuse(error, GPU_INVALID_SHAPE, kernel, name[i], shape->grid[i], most_blocks[i]);
        n_threads *= shape->block[i];
        n_blocks *= shape->grid[i];
        is_block = is_block && shape->block[i] <= most_threads[i];
    }
    if (n_blocks > UINT32_MAX)
        return refuse(error, GPU_INVALID_VALUE, kernel, "the number of blocks", n_blocks, UINT32_MAX);
    if (n_threads > gpu->config.threads_per_block || !is_block)
        return refuse(error, GPU_INVALID_SHAPE, kernel, "the number of threads in a block", n_threads,
                      gpu->config.threads_per_block);
    return true;
}

/* The kernel's own directives, and its parameters. */
static bool check_kernel(const struct gpu_launch *launch, struct gpu_error *error) {
    const struct ptx_function *function = launch->kernel->function;
    uint64_t n_threads = exec_shape_threads(&launch->shape), max_threads = 1;
    for (int i = 0; i < 3; i++) {
        if (function->required_threads[i] && launch->shape.block[i] != function->required_threads[i])
            return refuse(error, GPU_INVALID_VALUE, function->name, "a block dimension (see .reqntid)",
                          launch->shape.block[i], function->required_threads[i]);
        max_threads *= function->max_threads[i] ? function->max_threads[i] : 1;
    }
    if (function->max_threads[0] && n_threads > max_threads)
        return refuse(error, GPU_INVALID_VALUE, function->name, "the number of threads in a block (see .maxntid)",
                      n_threads, max_threads);
    if (launch->parameter_bytes < launch->kernel->program->parameter_bytes)
        return refuse(error, GPU_INVALID_VALUE, function->name, "the size of its parameters in bytes",
                      launch->kernel->program->parameter_bytes, launch->parameter_bytes);
    return true;
}

/* Registers and shared memory of a block, and of all blocks of a cooperative launch. */
static bool check_resources(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    const struct gpu_config *config = &gpu->config;
    const struct exec_program *program = launch->kernel->program;
    const struct config_demand block = {
        .threads = exec_shape_threads(&launch->shape),
        .registers_per_thread = program->registers_per_thread,
        .shared_bytes = program->dynamic_shared_offset + launch->shape.dynamic_shared_bytes,
    };
    uint32_t dynamic = launch->shape.dynamic_shared_bytes, most_dynamic = launch->kernel->most_dynamic_shared_bytes;
    uint64_t shared = (uint64_t)program->dynamic_shared_offset + dynamic;
    uint64_t registers = config_registers(&config->sm, block.threads, block.registers_per_thread);
    uint64_t n_blocks = exec_shape_blocks(&launch->shape);
    struct config_shortage shortage;
    if (dynamic > most_dynamic)
        return REFUSE(error, GPU_INVALID_VALUE,
                      "kernel '%s': %u bytes of dynamic shared memory; at most %u without raising "
                      "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
                      program->name, dynamic, most_dynamic);
    if (shared > config->shared_bytes_per_block_optin)
        return refuse(error, GPU_LAUNCH_OUT_OF_RESOURCES, program->name, "shared memory in bytes", shared,
                      config->shared_bytes_per_block_optin);
    if (registers > config->registers_per_block)
        return REFUSE(error, GPU_LAUNCH_OUT_OF_RESOURCES,
                      "kernel '%s': a block needs %llu registers; at most %u are possible", program->name,
                      (unsigned long long)registers, config->registers_per_block);
    uint64_t fit = config_occupancy(&config->sm, &block, &shortage);
    if (!fit)
        return REFUSE(error, GPU_LAUNCH_OUT_OF_RESOURCES, "a block of kernel '%s' needs %llu %s; an SM has %llu",
                      program->name, (unsigned long long)shortage.need, shortage.what,
                      (unsigned long long)shortage.have);
    if (launch->shape.is_cooperative && n_blocks > fit * config->n_sms)
        return REFUSE(error, GPU_COOPERATIVE_TOO_LARGE,
                      "kernel '%s': a cooperative launch of %llu blocks; %llu fit at once", program->name,
                      (unsigned long long)n_blocks, (unsigned long long)(fit * config->n_sms));
    return true;
}

uint32_t gpu_kernel_clusters(const struct gpu *gpu, const struct gpu_kernel *kernel, const struct exec_shape *shape) {
    const struct config_machine *machine = gpu->config.machine;
    uint32_t n = exec_shape_cluster(shape), n_clusters = 0;
    uint32_t fit = gpu_kernel_occupancy(gpu, kernel, exec_shape_threads(shape), shape->dynamic_shared_bytes);
    if (!machine)
        return fit * gpu->config.n_sms / n;
    for (uint32_t sm = 0, first, n_sms; sm < machine->sm.count; sm += n_sms) {
        n_sms = config_gpc(machine, sm, &first);
        n_clusters += n_sms < n ? 0 : fit * n_sms / n;
    }
    return n_clusters;
}

/* Clusters of several blocks. */
static bool check_cluster(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    const struct exec_shape *shape = &launch->shape;
    const struct ptx_function *function = launch->kernel->function;
    const struct config_machine *machine = gpu->timed && !launch->is_untimed ? gpu->config.machine : NULL;
    uint32_t n = exec_shape_cluster(shape), most = launch->kernel->allows_any_cluster ? EXEC_MAX_CLUSTER : 8;
    if (function->max_cluster_rank && function->max_cluster_rank < most)
        most = function->max_cluster_rank;
    if (machine && machine->cluster.is_present && machine->cluster.size < most)
        most = machine->cluster.size;
    for (int i = 0; i < 3; i++) {
        uint32_t wanted = exec_shape_cluster_dim(shape, i);
        if (function->cluster[0] && wanted != function->cluster[i])
            return REFUSE(error, GPU_INVALID_CLUSTER,
                          "kernel '%s': a cluster dimension is %u; .reqnctapercluster wants %u", function->name, wanted,
                          function->cluster[i]);
        if (shape->grid[i] % wanted)
            return REFUSE(error, GPU_INVALID_CLUSTER, "kernel '%s': %u blocks cannot be divided into clusters of %u",
                          function->name, shape->grid[i], wanted);
    }
    if (n <= 1)
        return true;
    if (machine && !machine->cluster.is_present)
        return REFUSE(error, GPU_NOT_SUPPORTED,
                      "kernel '%s': machine '%s' runs no clusters of several blocks: set cluster.size, or run it with "
                      "--functional",
                      function->name, machine->name);
    if (n > most)
        return refuse(error, GPU_INVALID_CLUSTER, function->name, "the number of blocks in a cluster", n, most);
    if (!gpu_kernel_clusters(gpu, launch->kernel, shape))
        return REFUSE(error, GPU_INVALID_CLUSTER, "kernel '%s': a cluster of %u blocks does not fit", function->name,
                      n);
    return !machine || gpu_timed_runs_clusters(gpu->timed, function->name, error);
}

/* Code that relies on warps of 32 threads is wrong on a machine with narrower warps. */
static bool check_warps(const struct config_machine *machine, const struct exec_program *program,
                        struct gpu_error *error) {
    if (machine->sm.warp_size == EXEC_LANES || !program->uses_warps)
        return true;
    return REFUSE(error, GPU_NOT_SUPPORTED,
                  "kernel '%s' uses warp-wide instructions, which need warps of 32; machine '%s' has warps of %u",
                  program->name, machine->name, machine->sm.warp_size);
}

static bool check_matrix_unit(const struct config_machine *machine, const struct exec_program *program,
                              struct gpu_error *error) {
    char name[80];
    if (machine->matrix.is_present || !program->first_multiplication)
        return true;
    return REFUSE(
        error, GPU_NOT_SUPPORTED,
        "kernel '%s' multiplies matrices (line %u: %s), and machine '%s' has no unit for that: set matrix.rate, or "
        "run it with --functional",
        program->name, program->first_multiplication->at.line,
        ptx_instruction_name(program->first_multiplication, name, sizeof name), machine->name);
}

bool gpu_check_launch(const struct gpu *gpu, const struct gpu_launch *launch, struct gpu_error *error) {
    const struct exec_program *program = launch->kernel->program;
    if (!check_shape(gpu, launch, error) || !check_kernel(launch, error) || !check_resources(gpu, launch, error) ||
        !check_cluster(gpu, launch, error))
        return false;
    if (!gpu->timed || launch->is_untimed)
        return true;
    return check_warps(gpu->config.machine, program, error) && check_matrix_unit(gpu->config.machine, program, error) &&
           gpu_timed_accepts(gpu->timed, program, error);
}
