/* The state of the process: how an API call enters and leaves it, the current contexts of threads, the table of
 * objects.
 *
 * One lock guards everything, so calls from several threads take turns. A launch holds the lock until the kernel has
 * ended. Functions of the program (callbacks) run without the lock. */
#define _GNU_SOURCE
#include "cuda/internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The one mutable global of the project: the API has no handle for the process. The first call makes it, and it lives
 * until the process ends. It is accessed only under the lock. The lock knows its owner, so that an exit() in the middle
 * of a call is detected and does not deadlock. */
static struct cuda_state *process_state;
static pthread_mutex_t process_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

/* The API's data about each thread: its stack of contexts, and its mode of stream capture. */
enum { LARGEST_STACK = 64 };
static _Thread_local struct {
    struct CUctx_st *context[LARGEST_STACK];
    unsigned depth;
    CUstreamCaptureMode capture_mode;
} thread;

void *cuda_allocate(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        cuda_print("out of host memory (%zu bytes wanted)", bytes);
        exit(1);
    }
    return memory;
}

void cuda_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

CUresult cuda_refuse(const struct cuda_call *call, CUresult result, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (result != CUDA_ERROR_NOT_SUPPORTED ? call->state->is_verbose : !cuda_results_has_error(call->state, message))
        cuda_print("%s", message);
    if (result == CUDA_ERROR_NOT_SUPPORTED && !cuda_results_has_error(call->state, message))
        cuda_results_add_error(call->state, result, NULL, message);
    return result;
}

const char *cuda_object_file(const void *address) {
    Dl_info object;
    if (!dladdr(address, &object) || !object.dli_fname)
        return "the program";
    const char *slash = strrchr(object.dli_fname, '/');
    return slash ? slash + 1 : object.dli_fname;
}

/* ---- Entering and leaving --------------------------------------------------------------------------------------- */

struct cuda_call cuda_enter_any(void) {
    bool is_locked = pthread_mutex_lock(&process_lock) == 0;
    if (!process_state)
        process_state = cuda_allocate(sizeof(*process_state));
    return (struct cuda_call){
        .state = process_state,
        .gpu = process_state->gpu,
        .result = is_locked ? CUDA_SUCCESS : CUDA_ERROR_DEINITIALIZED,
        .is_locked = is_locked,
    };
}

/* A fork has a copy of the device's memory. The driver refuses it, as on a GPU. */
static void refuse_copy(struct cuda_call *call) {
    if (!call->state->has_said_copy)
        cuda_print("process %ld was forked after cuInit and cannot use the device: fork before it, or start a program",
                   (long)getpid());
    call->state->has_said_copy = true;
    call->result = CUDA_ERROR_NOT_INITIALIZED;
}

struct cuda_call cuda_enter(void) {
    struct cuda_call call = cuda_enter_any();
    if (call.result == CUDA_SUCCESS && !call.state->is_initialized)
        call.result = CUDA_ERROR_NOT_INITIALIZED;
    else if (call.result == CUDA_SUCCESS && call.state->is_copy)
        refuse_copy(&call);
    return call;
}

/* In the child of a fork. Another thread of the parent may have held the lock. */
static void note_fork(void) {
    process_lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    if (process_state && process_state->is_initialized)
        process_state->is_copy = true;
}

void cuda_watch_forks(void) { pthread_atfork(NULL, NULL, note_fork); }

struct cuda_call cuda_enter_device(CUdevice device) {
    struct cuda_call call = cuda_enter();
    if (call.result == CUDA_SUCCESS && device != 0)
        call.result = CUDA_ERROR_INVALID_DEVICE;
    return call;
}

struct cuda_call cuda_enter_settled(void) {
    struct cuda_call call = cuda_enter();
    if (call.result == CUDA_SUCCESS)
        cuda_settle(&call);
    return call;
}

static struct cuda_call enter_context(bool settles) {
    struct cuda_call call = settles ? cuda_enter_settled() : cuda_enter();
    if (call.result != CUDA_SUCCESS)
        return call;
    call.context = cuda_current_context();
    if (!call.context)
        call.result = CUDA_ERROR_INVALID_CONTEXT;
    else if (call.context->is_destroyed)
        call.result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    else
        call.result = call.context->error;
    return call;
}

struct cuda_call cuda_enter_context(void) {
    return enter_context(true);
}

static struct cuda_call enter_stream(CUstream stream, bool settles) {
    struct cuda_call call = enter_context(settles);
    if (call.result != CUDA_SUCCESS)
        return call;
    bool is_default = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
    if (!is_default && !cuda_object_find(&call, stream, CUDA_KIND_STREAM)) {
        call.result = CUDA_ERROR_INVALID_HANDLE;
        return call;
    }
    call.stream = is_default ? NULL : stream;
    call.ready = call.end = cuda_stream_ready(&call, call.stream);
    return call;
}

struct cuda_call cuda_enter_stream(CUstream stream) {
    return enter_stream(stream, true);
}
struct cuda_call cuda_enter_waiting(CUstream stream) {
    return enter_stream(stream, false);
}

CUresult cuda_settle_stream(struct cuda_call *call) {
    cuda_settle(call);
    call->ready = call->end = cuda_stream_ready(call, call->stream);
    return call->context->error;
}

void cuda_unlock(struct cuda_call *call) {
    if (!call->is_locked)
        return;
    call->is_locked = false;
    pthread_mutex_unlock(&process_lock);
}

void cuda_leave(struct cuda_call *call) { cuda_unlock(call); }

/* ---- The end of the process ------------------------------------------------------------------------------------- */

/* Another thread may hold the lock for the length of a kernel; the process does not wait for that. An exit() out of a
 * call leaves the file as it was last written. */
void cuda_finish(void) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 2;
    if (pthread_mutex_timedlock(&process_lock, &limit) != 0)
        return;
    if (process_state && process_state->is_initialized) {
        struct cuda_call call = {.state = process_state, .gpu = process_state->gpu};
        if (!process_state->is_copy)
            cuda_settle(&call);
        cuda_results_write(process_state);
    }
    pthread_mutex_unlock(&process_lock);
}

__attribute__((destructor)) static void finish_last(void) { cuda_finish(); }

/* ---- Contexts of threads ---------------------------------------------------------------------------------------- */

struct CUctx_st *cuda_current_context(void) {
    return thread.depth ? thread.context[thread.depth - 1] : NULL;
}

bool cuda_push_context(struct CUctx_st *context) {
    if (thread.depth == LARGEST_STACK)
        return false;
    thread.context[thread.depth++] = context;
    return true;
}

struct CUctx_st *cuda_pop_context(void) {
    return thread.depth ? thread.context[--thread.depth] : NULL;
}

CUstreamCaptureMode cuda_exchange_capture_mode(CUstreamCaptureMode mode) {
    CUstreamCaptureMode before = thread.capture_mode;
    thread.capture_mode = mode;
    return before;
}

/* ---- Objects ---------------------------------------------------------------------------------------------------- */

void *cuda_object_new(struct cuda_call *call, enum cuda_kind kind, size_t bytes) {
    struct cuda_object *object = cuda_allocate(bytes);
    object->kind = kind;
    object->context = call->context;
    cuda_table_put(&call->state->objects, (uintptr_t)object, object);
    return object;
}

void *cuda_object_find(const struct cuda_call *call, const void *handle, enum cuda_kind kind) {
    struct cuda_object *object = cuda_table_get(&call->state->objects, (uintptr_t)handle);
    bool exists = object && object->kind == kind;
    if (!exists && (kind == CUDA_KIND_MODULE || kind == CUDA_KIND_LIBRARY)) {
        call->state->has_lost_module = true;
        call->state->n_changes++;
    }
    return exists ? object : NULL;
}

static void count_stream(struct cuda_state *state, const struct CUstream_st *stream, uint32_t by) {
    state->order.n_streams += by;
    state->order.n_free_streams += stream->flags & CU_STREAM_NON_BLOCKING ? by : 0;
}

void cuda_stream_made(struct cuda_call *call, const struct CUstream_st *stream) {
    count_stream(call->state, stream, 1);
}

void cuda_object_delete(struct cuda_state *state, void *object) {
    if (((const struct cuda_object *)object)->kind == CUDA_KIND_STREAM)
        count_stream(state, object, UINT32_MAX);
    cuda_table_remove(&state->objects, (uintptr_t)object);
    free(object);
}
