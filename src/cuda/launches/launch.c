/* Launches of kernels and host functions.
 *
 * A kernel has ended when the launch returns, unless it waits for others (waiting.c). An invalid launch returns its
 * error directly. A kernel that fails leaves its error in the context, and the next call reports it, as on a real
 * device, where the launch would already have returned. With CUDA_LAUNCH_BLOCKING=1 in the environment the launch
 * itself reports it. Either way one line on standard error says what happened. */
#include "cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/demangle.h"

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

CUresult cuda_kernel_prepare(const struct cuda_call *call, struct cuda_kernel_work *work, CUfunction function,
                             const struct exec_shape *shape, void **parameters, void **extra) {
    CUDA_FIND(struct CUfunc_st, found, cuda_find_function(call, function));
    const struct ptx_function *kernel = gpu_kernel_function(found->kernel);
    *work = (struct cuda_kernel_work){
        .function = found,
        .launch = {.kernel = found->kernel,
                   .shape = *shape,
                   .parameters = cuda_allocate(kernel->parameter_bytes),
                   .parameter_bytes = (uint32_t)kernel->parameter_bytes},
    };
    CUresult result = pack(call, kernel, parameters, extra, work->launch.parameters);
    if (result != CUDA_SUCCESS) {
        free(work->launch.parameters);
        work->launch.parameters = NULL;
    }
    return result;
}

/* ---- The launch ------------------------------------------------------------------------------------------------- */

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
    bool is_refused = gpu_is_refusal(error->status);
    if (!is_refused || state->n_refused_launches < MOST_LINES)
        cuda_print("%s", error->message);
    if (is_refused && ++state->n_refused_launches == MOST_LINES)
        cuda_print("more launches that cannot start are not printed");
    cuda_results_add_error(state, result, limit_of(error->status), error->message);
    cuda_results_write(state);
}

/* Returns whether the launch is selected by its number, among all launches and among those of its kernel, and by its
 * name, mangled or not. */
static bool is_to_be_timed(const struct cuda_state *state, const struct CUfunc_st *function, uint64_t number) {
    const struct cuda_timed_launches *timed = &state->timed;
    const char *kernel = gpu_kernel_name(function->kernel);
    if (number < timed->first || (timed->last && number > timed->last))
        return false;
    if (!timed->compiled || regexec(timed->compiled, kernel, 0, NULL, 0) == 0)
        return true;
    struct base_arena arena = {0};
    bool is_match = regexec(timed->compiled, base_demangle(kernel, &arena), 0, NULL, 0) == 0;
    base_arena_free(&arena);
    return is_match;
}

void cuda_choose_timing(const struct cuda_call *call, const struct CUfunc_st *function, uint32_t n_before,
                        struct gpu_launch *launch) {
    uint64_t number = (uint64_t)call->state->n_launches + gpu_count_waiting_launches(call->gpu) + n_before + 1;
    launch->is_untimed = !is_to_be_timed(call->state, function, number);
}

void cuda_launch_failed(struct cuda_call *call, const struct gpu_error *error) {
    CUresult result = cuda_result_of(error->status);
    if (call->context && !gpu_is_refusal(error->status))
        call->context->error = result;
    report(call->state, result, error);
    if (error->status == GPU_OTHER_RUN) /* no result that the program could compute from here on would be right */
        _exit(1);
    if (error->status == GPU_INTERRUPTED)
        cuda_interrupt_end();
}

/* Notes a timed launch that could have met others. */
static void note_apart(struct cuda_call *call, const struct gpu_launch *launch) {
    struct cuda_apart *apart = &call->state->apart;
    const struct CUstream_st *found = cuda_object_find(call, call->stream, CUDA_KIND_STREAM);
    uint64_t stream = found ? found->id : 0;
    if (launch->is_untimed || !cuda_may_meet(call) || !cuda_why_apart(call->state))
        return;
    if (!apart->n_launches++)
        apart->stream = stream;
    apart->has_several |= apart->stream != stream;
}

/* Sets *is_impossible if no kernel can have the launch's grid or block; it may be NULL. */
static CUresult run(struct cuda_call *call, const struct cuda_kernel_work *work, bool *is_impossible) {
    struct gpu_launch launch = work->launch;
    struct gpu_error error = {.status = GPU_OK};
    cuda_choose_timing(call, work->function, 0, &launch);
    bool waits = cuda_may_wait(call, &launch);
    if (!waits)
        note_apart(call, &launch);
    if (!waits && cuda_is_waiting(call) && cuda_settle_stream(call) != CUDA_SUCCESS)
        return call->context->error;
    cuda_interrupt_defer(true);
    bool is_done =
        waits ? gpu_check_launch(call->gpu, &launch, &error) : cuda_launch_on_timeline(call, &launch, &error);
    if (waits && is_done)
        cuda_wait_with_launch(call, &launch);
    bool is_refused = !is_done && gpu_is_refusal(error.status);
    cuda_interrupt_defer(false);
    cuda_results_note_launches(call->state);
    cuda_note_memory(call->state);
    if (is_done) {
        cuda_results_write_sometimes(call->state);
        return CUDA_SUCCESS;
    }
    if (is_impossible)
        *is_impossible = error.status == GPU_INVALID_SHAPE;
    cuda_launch_failed(call, &error);
    return is_refused || call->state->is_launch_blocking ? cuda_result_of(error.status) : CUDA_SUCCESS;
}

CUresult cuda_kernel_run(struct cuda_call *call, const struct cuda_kernel_work *work) { return run(call, work, NULL); }

/* Runs a launch in a stream, or records it there. */
static CUresult launch_in(struct cuda_call *call, CUstream stream, CUfunction function, const struct exec_shape *shape,
                          void **parameters, void **extra, bool *is_impossible) {
    struct cuda_kernel_work work;
    CUresult result = cuda_kernel_prepare(call, &work, function, shape, parameters, extra);
    if (result != CUDA_SUCCESS)
        return result;
    struct cuda_capture *capture = cuda_capture_of(call, stream);
    result = capture ? cuda_capture_kernel(call, capture, &work) : run(call, &work, is_impossible);
    free(work.launch.parameters);
    return result;
}

static CUresult launch(CUstream stream, CUfunction function, const struct exec_shape *shape, void **parameters,
                       void **extra) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    return launch_in(&call, stream, function, shape, parameters, extra, NULL);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                        void **extra) {
    const struct exec_shape shape = {
        .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .dynamic_shared_bytes = shared_bytes};
    return launch(stream, function, &shape, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void **parameters) {
    const struct exec_shape shape = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .dynamic_shared_bytes = shared_bytes,
                                     .is_cooperative = true};
    return launch(stream, function, &shape, parameters, NULL);
}

/* ---- Launches with attributes ----------------------------------------------------------------------------------- */

/* Attributes that are only hints are ignored. */
static CUresult apply_attribute(const struct cuda_call *call, const CUlaunchAttribute *attribute,
                                struct exec_shape *shape) {
    const CUlaunchAttributeValue *value = &attribute->value;
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        shape->is_cooperative = value->cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        shape->cluster[0] = value->clusterDim.x;
        shape->cluster[1] = value->clusterDim.y;
        shape->cluster[2] = value->clusterDim.z;
        return CUDA_SUCCESS;
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
    call->ready = cuda_stream_ready(call, call->stream);
    cuda_event_record(call, event);
}

static void record_events(struct cuda_call *call, const CUlaunchConfig *config) {
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            record_event(call, config->attrs[i].value.programmaticEvent.event);
        else if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            record_event(call, config->attrs[i].value.launchCompletionEvent.event);
}

/* For our runtime, which has another error for launches that no kernel can have. */
CUresult cuHeddleLaunch(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra,
                        bool *is_impossible);

CUresult cuHeddleLaunch(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra,
                        bool *is_impossible) {
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ENTER(call, cuda_enter_waiting(config->hStream));
    struct exec_shape shape = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared_bytes = config->sharedMemBytes,
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        CUresult result = apply_attribute(&call, &config->attrs[i], &shape);
        if (result != CUDA_SUCCESS)
            return result;
    }
    CUresult result = launch_in(&call, config->hStream, function, &shape, parameters, extra, is_impossible);
    record_events(&call, config);
    return result;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    return cuHeddleLaunch(config, function, parameters, extra, NULL);
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
