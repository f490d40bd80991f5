/* Launches of kernels and host functions.
 *
 * A kernel has ended when the launch returns. An invalid launch returns its error itself. A kernel that fails leaves
 * its error in the context, and the next call reports it, as on a real device, where the launch would already have
 * returned. With CUDA_LAUNCH_BLOCKING=1 in the environment the launch itself reports it. Either way one line on
 * standard error says what happened. */
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/demangle.h"

/* A launch that the API allows, before the kernel is checked. */
struct request {
    CUfunction function;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    void **parameters, **extra;
    bool is_cooperative;
};

/* ---- Parameters ------------------------------------------------------------------------------------------------- */

static CUresult read_extra(void **extra, const void **buffer, size_t *bytes) {
    *buffer = NULL;
    *bytes = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
            *bytes = *(const size_t *)extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return *buffer || !*bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult pack(const struct cuda_call *call, const struct ptx_function *kernel, void **parameters, void **extra,
                     unsigned char *block) {
    if (parameters && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra) {
        const void *buffer;
        size_t bytes;
        CUresult result = read_extra(extra, &buffer, &bytes);
        if (result != CUDA_SUCCESS)
            return result;
        if (bytes < kernel->parameter_bytes)
            return cuda_refuse(call, CUDA_ERROR_INVALID_VALUE,
                               "kernel '%s' takes %llu bytes of parameters; the launch gives %zu", kernel->name,
                               (unsigned long long)kernel->parameter_bytes, bytes);
        if (kernel->parameter_bytes)
            memcpy(block, buffer, kernel->parameter_bytes);
        return CUDA_SUCCESS;
    }
    if (kernel->n_parameters && !parameters)
        return cuda_refuse(call, CUDA_ERROR_INVALID_VALUE, "kernel '%s' takes %u parameters; the launch gives none",
                           kernel->name, kernel->n_parameters);
    for (uint32_t i = 0; i < kernel->n_parameters; i++) {
        if (!parameters[i])
            return cuda_refuse(call, CUDA_ERROR_INVALID_VALUE, "kernel '%s': the address of parameter %u is NULL",
                               kernel->name, i);
        memcpy(block + kernel->parameter[i].offset, parameters[i], kernel->parameter[i].size);
    }
    return CUDA_SUCCESS;
}

CUresult cuda_kernel_pack(const struct cuda_call *call, struct cuda_kernel_work *work, void **parameters,
                          void **extra) {
    const struct ptx_function *kernel = gpu_kernel_function(work->function->kernel);
    work->parameter_bytes = kernel->parameter_bytes;
    work->parameters = cuda_allocate(kernel->parameter_bytes);
    CUresult result = pack(call, kernel, parameters, extra, work->parameters);
    if (result != CUDA_SUCCESS) {
        free(work->parameters);
        work->parameters = NULL;
    }
    return result;
}

/* ---- The launch ------------------------------------------------------------------------------------------------- */

/* Checks the conditions that gpu_launch() does not know: the opt-in to more shared memory, registers, and the blocks of
 * a cooperative launch. */
static CUresult check(const struct cuda_call *call, const struct cuda_kernel_work *work, struct gpu_error *error) {
    const struct CUfunc_st *function = work->function;
    const struct gpu_config *config = gpu_config(call->gpu);
    const char *name = gpu_kernel_name(function->kernel);
    uint64_t threads = (uint64_t)work->block[0] * work->block[1] * work->block[2];
    uint64_t blocks = (uint64_t)work->grid[0] * work->grid[1] * work->grid[2];
    uint64_t registers = gpu_kernel_program(function->kernel)->registers_per_thread * ((threads + 31) / 32 * 32);
    if (work->shared_bytes > function->max_dynamic_shared) {
        snprintf(error->message, sizeof(error->message),
                 "kernel '%s': %u bytes of dynamic shared memory; at most %u without raising "
                 "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
                 name, work->shared_bytes, function->max_dynamic_shared);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (threads <= config->threads_per_block && registers > config->registers_per_block) {
        snprintf(error->message, sizeof(error->message),
                 "kernel '%s': a block needs %llu registers; at most %u are possible", name,
                 (unsigned long long)registers, config->registers_per_block);
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    if (!work->is_cooperative || threads > config->threads_per_block)
        return CUDA_SUCCESS;
    uint64_t fit = (uint64_t)config->n_sms *
                   gpu_kernel_occupancy(call->gpu, function->kernel, (uint32_t)threads, work->shared_bytes);
    if (blocks > fit) {
        snprintf(error->message, sizeof(error->message),
                 "kernel '%s': a cooperative launch of %llu blocks; %llu fit at once", name, (unsigned long long)blocks,
                 (unsigned long long)fit);
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

/* Returns whether the error is about the launch, not about the kernel's execution. */
static bool is_refusal(enum gpu_status status) {
    return status == GPU_INVALID_VALUE || status == GPU_OUT_OF_MEMORY || status == GPU_INVALID_PTX ||
           status == GPU_NOT_FOUND || status == GPU_LAUNCH_OUT_OF_RESOURCES || status == GPU_NOT_SUPPORTED;
}

static const char *limit_of(enum gpu_status status) {
    switch (status) {
    case GPU_TIME_LIMIT:
        return "timeout";
    case GPU_INSTRUCTION_LIMIT:
        return "max-instructions";
    case GPU_CYCLE_LIMIT:
        return "max-cycles";
    case GPU_INTERRUPTED:
        return "interrupt";
    default:
        return NULL;
    }
}

/* Some programs try many launches until one fits. */
enum { MOST_LINES = 10 };

static void report(struct cuda_state *state, CUresult result, const struct gpu_error *error) {
    bool is_refused = error->status == GPU_OK || is_refusal(error->status); /* OK: check() refused it */
    if (!is_refused || state->n_refused_launches < MOST_LINES)
        cuda_print("%s", error->message);
    if (is_refused && ++state->n_refused_launches == MOST_LINES)
        cuda_print("more launches that cannot start are not printed");
    cuda_results_add_error(state, result, limit_of(error->status), error->message);
    cuda_results_write(state);
}

/* Returns whether the launch is selected by its number, among all launches and among those of its kernel, and by its
 * name, mangled or not. */
static bool is_to_be_timed(const struct cuda_state *state, const struct CUfunc_st *function) {
    const struct cuda_timed_launches *timed = &state->timed;
    const char *kernel = gpu_kernel_name(function->kernel);
    uint64_t number = state->n_launches + 1;
    if (timed->every && function->n_launches % timed->every != 0)
        return false;
    if (number < timed->first || (timed->last && number > timed->last))
        return false;
    if (!timed->compiled || regexec(timed->compiled, kernel, 0, NULL, 0) == 0)
        return true;
    struct base_arena arena = {0};
    bool is_match = regexec(timed->compiled, base_demangle(kernel, &arena), 0, NULL, 0) == 0;
    base_arena_free(&arena);
    return is_match;
}

CUresult cuda_kernel_run(struct cuda_call *call, const struct cuda_kernel_work *work) {
    struct CUfunc_st *function = work->function;
    struct gpu_launch launch = {
        .kernel = function->kernel,
        .dynamic_shared_bytes = work->shared_bytes,
        .parameters = work->parameters,
        .parameter_bytes = (uint32_t)gpu_kernel_function(function->kernel)->parameter_bytes,
        .is_cooperative = work->is_cooperative,
        .is_untimed = !is_to_be_timed(call->state, function),
    };
    memcpy(launch.grid, work->grid, sizeof(launch.grid));
    memcpy(launch.block, work->block, sizeof(launch.block));
    struct gpu_error error = {.status = GPU_OK};
    CUresult result = check(call, work, &error);
    if (result != CUDA_SUCCESS) {
        report(call->state, result, &error);
        return result;
    }
    cuda_interrupt_defer(true);
    bool is_done = gpu_launch(call->gpu, &launch, &error);
    function->n_launches++;
    cuda_interrupt_defer(false);
    cuda_results_note_launches(call->state);
    cuda_note_memory(call->state);
    if (is_done) {
        cuda_results_write_sometimes(call->state);
        return CUDA_SUCCESS;
    }
    result = cuda_result_of(error.status);
    if (!is_refusal(error.status))
        call->context->error = result;
    report(call->state, result, &error);
    if (error.status == GPU_OTHER_RUN) /* no result that the program could compute from here on would be right */
        _exit(1);
    if (error.status == GPU_INTERRUPTED)
        cuda_interrupt_end();
    return is_refusal(error.status) || call->state->is_launch_blocking ? result : CUDA_SUCCESS;
}

static CUresult launch_in(struct cuda_call *call, CUstream stream, const struct request *request) {
    struct cuda_kernel_work work = {
        .function = cuda_find_function(call, request->function),
        .shared_bytes = request->shared_bytes,
        .is_cooperative = request->is_cooperative,
    };
    if (!work.function)
        return CUDA_ERROR_INVALID_HANDLE;
    memcpy(work.grid, request->grid, sizeof(work.grid));
    memcpy(work.block, request->block, sizeof(work.block));
    CUresult result = cuda_kernel_pack(call, &work, request->parameters, request->extra);
    if (result != CUDA_SUCCESS)
        return result;
    struct cuda_capture *capture = cuda_capture_of(call, stream);
    result = capture ? cuda_capture_kernel(call, capture, &work) : cuda_kernel_run(call, &work);
    free(work.parameters);
    return result;
}

static CUresult launch(CUstream stream, const struct request *request) {
    CUDA_CALL call = cuda_enter_stream(stream);
    return call.result != CUDA_SUCCESS ? call.result : launch_in(&call, stream, request);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                        void **extra) {
    const struct request request = {
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .shared_bytes = shared_bytes,
        .parameters = parameters,
        .extra = extra,
    };
    return launch(stream, &request);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void **parameters) {
    const struct request request = {
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .shared_bytes = shared_bytes,
        .parameters = parameters,
        .is_cooperative = true,
    };
    return launch(stream, &request);
}

/* ---- Launches with attributes ----------------------------------------------------------------------------------- */

/* Attributes that are only hints are ignored. */
static CUresult apply_attribute(const struct cuda_call *call, const CUlaunchAttribute *attribute,
                                struct request *request) {
    const CUlaunchAttributeValue *value = &attribute->value;
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        request->is_cooperative = value->cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        if (value->clusterDim.x == 1 && value->clusterDim.y == 1 && value->clusterDim.z == 1)
            return CUDA_SUCCESS;
        return cuda_refuse(call, CUDA_ERROR_INVALID_CLUSTER_SIZE, "cuLaunchKernelEx: the device has no clusters");
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        if (!value->deviceUpdatableKernelNode.deviceUpdatable)
            return CUDA_SUCCESS;
        return cuda_refuse(call, CUDA_ERROR_NOT_SUPPORTED,
                           "cuLaunchKernelEx: a node of a graph that kernels update is not supported");
    default:
        return CUDA_SUCCESS;
    }
}

static void record_event(struct cuda_call *call, CUevent handle) {
    struct CUevent_st *event = cuda_object_find(call, handle, CUDA_KIND_EVENT);
    if (!event)
        return;
    event->is_recorded = true;
    event->time_ns = gpu_time_ns(call->gpu);
}

static void record_events(struct cuda_call *call, const CUlaunchConfig *config) {
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            record_event(call, config->attrs[i].value.programmaticEvent.event);
        else if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            record_event(call, config->attrs[i].value.launchCompletionEvent.event);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ENTER(call, cuda_enter_stream(config->hStream));
    struct request request = {
        .function = function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .parameters = parameters,
        .extra = extra,
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        CUresult result = apply_attribute(&call, &config->attrs[i], &request);
        if (result != CUDA_SUCCESS)
            return result;
    }
    CUresult result = launch_in(&call, config->hStream, &request);
    record_events(&call, config);
    return result;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    if (capture)
        return cuda_capture_host(&call, capture, function, user);
    cuda_unlock(&call);
    function(user);
    return CUDA_SUCCESS;
}

CUDA_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);
CUDA_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);
CUDA_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel);
CUDA_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);
