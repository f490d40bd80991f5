/* Dynamic parallelism: launches and copies that a kernel makes. They run after the kernel has ended. CUDA 12 allows
 * this, because no thread can wait for its own launch. The launches run block by block, and within a block in the order
 * in which they were made. Each launch runs together with all launches it makes itself before the next one starts.
 * Launches into cudaStreamTailLaunch run last. Results therefore do not depend on the machine. Launches into different
 * streams of a block run one after the other here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"

enum { MOST_NESTED = 24, TAIL_STREAM = 3 }; /* cudaStreamTailLaunch; the Programming Guide's depth of nesting */

struct gpu_child {
    struct gpu_launch launch;    /* its parameters are filled in when it runs */
    struct exec_child_copy copy; /* if there is no kernel */
    uint64_t parameters;         /* in the heap of device-side malloc */
    uint32_t block;              /* of the parent, which launched it */
    bool is_launched, is_tail;
};

/* Returns the kernel at an address that a program of the same module took. */
static struct gpu_kernel *find_kernel(struct gpu *gpu, const struct exec_program *program, uint64_t address) {
    uint64_t index = (address - EXEC_CODE_WINDOW) / 16;
    for (struct gpu_module *module = gpu->modules; module; module = gpu_module_next(module)) {
        const struct ptx_module *ptx = gpu_module_ptx(module);
        if (ptx != program->module || address < EXEC_CODE_WINDOW || index >= ptx->n_functions)
            continue;
        struct ptx_messages messages = {0};
        struct gpu_kernel *kernel = gpu_module_kernel(module, ptx->function[index]->name, &messages);
        ptx_messages_free(&messages);
        return kernel;
    }
    return NULL;
}

static struct gpu_child *add_child(struct gpu *gpu) {
    struct gpu_child *larger = realloc(gpu->child, (gpu->n_children + 1) * sizeof *larger);
    if (!larger)
        abort();
    gpu->child = larger;
    return &larger[gpu->n_children];
}

uint64_t gpu_child_new(void *user, const struct exec_program *program, const struct exec_child *wanted) {
    struct gpu *gpu = user;
    struct gpu_kernel *kernel = find_kernel(gpu, program, wanted->function);
    if (!kernel || !exec_shape_blocks(&wanted->shape) || !exec_shape_threads(&wanted->shape))
        return 0;
    struct gpu_child *child = add_child(gpu);
    uint32_t bytes = kernel->program->parameter_bytes;
    uint64_t parameters = gpu_heap_alloc(&gpu->memory, bytes ? bytes : 1);
    if (parameters) {
        *child = (struct gpu_child){.launch = {.kernel = kernel, .shape = wanted->shape, .parameter_bytes = bytes},
                                    .parameters = parameters};
        gpu->n_children++;
    }
    return parameters;
}

void gpu_child_copy(void *user, uint32_t block, const struct exec_child_copy *copy) {
    struct gpu *gpu = user;
    *add_child(gpu) =
        (struct gpu_child){.copy = *copy, .block = block, .is_launched = true, .is_tail = copy->stream == TAIL_STREAM};
    gpu->n_children++;
}

bool gpu_child_launch(void *user, uint32_t block, uint64_t parameters, uint64_t stream) {
    struct gpu *gpu = user;
    for (uint32_t i = 0; i < gpu->n_children; i++) {
        struct gpu_child *child = &gpu->child[i];
        if (child->parameters != parameters || child->is_launched)
            continue;
        child->block = block;
        child->is_launched = true;
        child->is_tail = stream == TAIL_STREAM;
        return true;
    }
    return false;
}

/* Returns the next of these children to run, or NULL. */
static struct gpu_child *next_child(struct gpu_child *child, uint32_t n, bool is_tail) {
    struct gpu_child *next = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (child[i].is_launched && child[i].is_tail == is_tail && (!next || child[i].block < next->block))
            next = &child[i];
    return next;
}

static bool run_copy(struct gpu *gpu, const struct exec_child_copy *copy, struct gpu_error *error) {
    unsigned char *to = copy->bytes ? gpu_host(gpu, copy->to, copy->bytes) : NULL;
    const unsigned char *from = copy->bytes && !copy->is_fill ? gpu_host_read(gpu, copy->from, copy->bytes) : NULL;
    if (copy->bytes && (!to || (!from && !copy->is_fill))) {
        error->status = GPU_ILLEGAL_ADDRESS;
        snprintf(error->message, sizeof error->message,
                 "a kernel copies %llu bytes from 0x%llx to 0x%llx, which are not memory",
                 (unsigned long long)copy->bytes, (unsigned long long)copy->from, (unsigned long long)copy->to);
        return false;
    }
    gpu_note_written(gpu, copy->to, copy->bytes);
    if (from)
        memmove(to, from, copy->bytes);
    else if (to)
        memset(to, copy->value, copy->bytes);
    if (to) /* by the device, even if it copies */
        gpu_note_filled(gpu, copy->to, copy->bytes);
    return true;
}

static bool run_child(struct gpu *gpu, const struct gpu_child *child, bool is_untimed, struct gpu_error *error) {
    if (!child->launch.kernel)
        return run_copy(gpu, &child->copy, error);
    struct gpu_launch launch = child->launch;
    uint32_t bytes = launch.parameter_bytes;
    launch.is_untimed = is_untimed;
    launch.parameters = malloc(bytes ? bytes : 1);
    if (!launch.parameters)
        abort();
    memcpy(launch.parameters, gpu_host(gpu, child->parameters, bytes ? bytes : 1), bytes);
    bool is_done = gpu_launch(gpu, &launch, error);
    free(launch.parameters);
    return is_done;
}

bool gpu_run_children(struct gpu *gpu, bool is_untimed, struct gpu_error *error) {
    struct gpu_child *child = gpu->child, *next;
    uint32_t n = gpu->n_children;
    bool is_done = true;
    gpu->child = NULL;
    gpu->n_children = 0;
    if (gpu->n_nested == MOST_NESTED && n) {
        error->status = GPU_LAUNCH_OUT_OF_RESOURCES;
        snprintf(error->message, sizeof error->message, "launches from kernels are nested more than %d deep",
                 MOST_NESTED);
        is_done = false;
    }
    gpu->n_nested++;
    for (int is_tail = 0; is_tail < 2; is_tail++)
        while (is_done && (next = next_child(child, n, is_tail))) {
            next->is_launched = false;
            is_done = run_child(gpu, next, is_untimed, error);
        }
    gpu->n_nested--;
    for (uint32_t i = 0; i < n; i++)
        if (child[i].launch.kernel)
            gpu_heap_release(&gpu->memory, child[i].parameters);
    free(child);
    return is_done;
}
