/* Starts the driver and reports its version. The profiler's switches are here too, and do nothing. */
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool compile(struct cuda_timed_launches *timed) {
    timed->compiled = cuda_allocate(sizeof(*timed->compiled)); /* kept until the process ends */
    if (regcomp(timed->compiled, timed->kernels, REG_EXTENDED | REG_NOSUB) == 0)
        return true;
    cuda_print("HEDDLE_CONFIG: \"timed_kernels\" is no regular expression: %s", timed->kernels);
    return false;
}

static CUresult start(struct cuda_state *state) {
    struct gpu_config config = gpu_default_config();
    const char *json = getenv("HEDDLE_CONFIG");
    bool is_interruptible = false;
    if (json && *json && !cuda_read_config(json, &config, &state->timed, &state->is_verbose, &is_interruptible))
        return CUDA_ERROR_INVALID_VALUE;
    if (*state->timed.kernels && !compile(&state->timed))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_interruptible)
        config.stop = cuda_interrupt_catch();
    struct gpu_error error = {.status = GPU_OK};
    state->gpu = gpu_new(&config, &error);
    if (!state->gpu) {
        cuda_print("%s", error.message);
        return cuda_result_of(error.status);
    }
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    state->is_launch_blocking = blocking && strcmp(blocking, "1") == 0;
    const char *path = getenv("HEDDLE_RESULTS");
    if (path && *path) {
        state->results_path = cuda_allocate(strlen(path) + 1);
        strcpy(state->results_path, path);
        state->threads_path = cuda_allocate(strlen(path) + sizeof(".threads"));
        strcat(strcpy(state->threads_path, path), ".threads");
    }
    state->is_of_command = is_interruptible;
    state->pid = getpid();
    cuda_watch_forks();
    state->n_changes = 1; /* a program that launches nothing has results too */
    state->is_initialized = true;
    return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) {
    CUDA_CALL call = cuda_enter_any();
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (call.state->is_initialized)
        return CUDA_SUCCESS;
    CUresult result = start(call.state);
    /* In addition to the library's destructor, which runs last and covers the work of the program's own exit handlers:
     * one of those may end the process before the destructor runs. */
    if (result == CUDA_SUCCESS)
        atexit(cuda_finish);
    return result;
}

CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void) {
    CUDA_CALL call = cuda_enter_context();
    return call.result;
}

CUresult cuProfilerStop(void) {
    CUDA_CALL call = cuda_enter_context();
    return call.result;
}

/* In the preloaded library (cudart/preload): the object that contains an address has kernels, and a CUDA runtime that
 * Heddle's could not replace. */
extern bool heddle_is_closed(const void *address) __attribute__((weak));

/* The tables are NVIDIA's private interface between its own libraries. Most do without; a CUDA runtime cannot, so this
 * is where a closed library ends. The device starts first, because the refusal is part of its results. */
CUresult cuGetExportTable(const void **table, const CUuuid *table_id) {
    if (!table || !table_id)
        return CUDA_ERROR_INVALID_VALUE;
    const void *caller = __builtin_return_address(0);
    *table = NULL;
    if (!heddle_is_closed || !heddle_is_closed(caller))
        return CUDA_ERROR_NOT_SUPPORTED;
    cuInit(0);
    CUDA_CALL call = cuda_enter_any();
    return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED,
                       "%s is stripped and has a CUDA runtime inside that cannot be replaced: its kernels cannot run",
                       cuda_object_file(caller));
}
