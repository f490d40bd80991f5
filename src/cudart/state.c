/* The state of the runtime: the driver's start, each thread's last error, the primary context.
 *
 * As in CUDA, a thread that has made a context current with the driver API keeps it. Any other thread uses the primary
 * context of the one device. A kernel's fault stays in its context: the driver returns it from every later call, so it
 * is not kept here. */
#include "cudart/internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static struct {
    pthread_once_t once;
    CUresult started;
    pthread_mutex_t lock; /* of primary */
    CUcontext primary;    /* retained here; NULL: none yet */
} state = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static __thread cudaError_t last_error;

void cudart_print(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "heddle: %s\n", line);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void start_driver(void) { state.started = cuInit(0); }

CUresult cudart_start_driver(void) {
    pthread_once(&state.once, start_driver);
    return state.started;
}

static CUresult make_primary_current(void) {
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&state.lock);
    if (!state.primary)
        result = cuDevicePrimaryCtxRetain(&state.primary, 0);
    if (result == CUDA_SUCCESS)
        result = cuCtxSetCurrent(state.primary);
    pthread_mutex_unlock(&state.lock);
    return result;
}

CUresult cudart_start(void) {
    CUresult result = cudart_start_driver();
    CUcontext current;
    unsigned version;
    if (result == CUDA_SUCCESS)
        result = cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return result;
    /* A context that another thread's cudaDeviceReset has ended counts as none. */
    if (current && cuCtxGetApiVersion(current, &version) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    return make_primary_current();
}

CUresult cudart_reset(void) {
    CUresult result = cudart_start_driver();
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&state.lock);
    if (state.primary) {
        cudart_unload_all();
        result = cuDevicePrimaryCtxReset(0);
        cuCtxSetCurrent(NULL);
        state.primary = NULL;
    }
    pthread_mutex_unlock(&state.lock);
    return result;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

cudaError_t cudart_note(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t cudart_end(CUresult result) { return cudart_note((cudaError_t)result); }

cudaError_t cudaPeekAtLastError(void) { return last_error; }

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
