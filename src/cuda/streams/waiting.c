/* Work that waits in the device until the program needs its results, so that kernels of several streams run at the same
 * time.
 *
 * A launch waits if another stream exists whose work could run beside it. So do the copies, fills, events and waits for
 * events that come after it in its stream. Every other call that enters the driver with a context, and every call that
 * waits for the device, first lets all waiting work run to its end. A launch that is refused is refused at once. A
 * fault appears at the next such call.
 *
 * The nodes of a graph that do not depend on each other run at the same time too. A graph of kernels waits as a launch
 * does. One with copies or fills runs before cuGraphLaunch() returns.
 *
 * Nothing waits if the device runs one launch at a time, while a stream is captured, with CUDA_LAUNCH_BLOCKING, or if
 * only some launches are timed. Then each call does its work before it returns, in the order of the calls. */
#include <stdlib.h>
#include <string.h>

#include "cuda/internal.h"

enum { MOST_WAITING = 1024 }; /* tasks. A launch that comes then lets them run */

bool cuda_is_waiting(const struct cuda_call *call) { return call->gpu && gpu_count_tasks(call->gpu) > 0; }

bool cuda_may_meet(const struct cuda_call *call) {
    const struct cuda_order *order = &call->state->order;
    const struct CUstream_st *found = cuda_object_find(call, call->stream, CUDA_KIND_STREAM);
    if (!found)
        return order->n_free_streams > 0;
    return order->n_streams > 1 || found->flags & CU_STREAM_NON_BLOCKING;
}

bool cuda_may_share(const struct cuda_call *call, const struct gpu_launch *launch) {
    return !call->state->is_launch_blocking && gpu_may_run_together(call->gpu, launch);
}

const char *cuda_why_apart(const struct cuda_state *state) {
    if (state->is_launch_blocking) /* as on a GPU */
        return NULL;
    return gpu_why_apart(state->gpu);
}

bool cuda_may_wait(const struct cuda_call *call, const struct gpu_launch *launch) {
    return cuda_may_meet(call) && gpu_count_tasks(call->gpu) < MOST_WAITING && cuda_may_share(call, launch);
}

/* --- tasks of streams --- */

/* Tasks that new work of a stream waits for. */
struct before {
    uint32_t *task;
    uint32_t n;
};

static void add_before(struct before *before, uint32_t task) {
    if (!task)
        return;
    before->task = realloc(before->task, (before->n + 1) * sizeof(*before->task));
    if (!before->task)
        abort();
    before->task[before->n++] = task;
}

static struct before find_before(const struct cuda_call *call) {
    struct before before = {0};
    const struct CUstream_st *found = cuda_object_find(call, call->stream, CUDA_KIND_STREAM);
    if (!cuda_is_waiting(call))
        return before;
    if (found) {
        add_before(&before, found->task);
        if (!(found->flags & CU_STREAM_NON_BLOCKING))
            add_before(&before, call->state->order.default_task);
        return before;
    }
    add_before(&before, call->state->order.default_task);
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call->state->objects, &at));) {
        const struct CUstream_st *stream = entry->value;
        if (stream->object.kind == CUDA_KIND_STREAM && !(stream->flags & CU_STREAM_NON_BLOCKING))
            add_before(&before, stream->task);
    }
    return before;
}

bool cuda_must_wait(const struct cuda_call *call) {
    struct before before = find_before(call);
    free(before.task);
    return before.n > 0;
}

static void set_last(const struct cuda_call *call, uint32_t task) {
    struct CUstream_st *found = cuda_object_find(call, call->stream, CUDA_KIND_STREAM);
    if (found)
        found->task = task;
    else
        call->state->order.default_task = task;
    call->state->waiting_context = call->context;
    cuda_watch_waiting(&call->state->watch, true);
}

/* Returns the tasks before work of a graph: those that it names or, if it names none, those before the graph. */
static struct before before_node(const struct cuda_call *call, const uint32_t *after, uint32_t n) {
    struct before before = {0};
    for (uint32_t i = 0; i < n; i++)
        add_before(&before, after[i]);
    return n ? before : find_before(call);
}

uint32_t cuda_add_launch(struct cuda_call *call, struct gpu_launch *launch, const uint32_t *after, uint32_t n) {
    struct before before = before_node(call, after, n);
    const struct CUstream_st *found = cuda_object_find(call, call->stream, CUDA_KIND_STREAM);
    launch->stream = found ? (uint32_t)found->id : 0;
    launch->priority = found ? found->priority : CUDA_STREAM_LEAST_PRIORITY;
    uint32_t task = gpu_add_launch(call->gpu, launch, &(struct gpu_after){call->ready, before.task, before.n});
    free(before.task);
    return task;
}

void cuda_wait_with_launch(struct cuda_call *call, struct gpu_launch *launch) {
    set_last(call, cuda_add_launch(call, launch, NULL, 0));
}

/* Work of the driver: a function of it, and its argument. */
struct work {
    struct cuda_call call;
    CUresult (*run)(struct cuda_call *call, const void *argument);
    unsigned char argument[];
};

/* Refusals were found when the work was added. */
static uint64_t act(void *user, uint64_t ready) {
    struct work *work = user;
    work->call.ready = work->call.end = ready;
    work->run(&work->call, work->argument);
    uint64_t end = work->call.end;
    free(work);
    return end;
}

uint32_t cuda_add_work(struct cuda_call *call, CUresult (*run)(struct cuda_call *call, const void *argument),
                       const void *argument, size_t bytes, const uint32_t *after, uint32_t n) {
    struct before before = before_node(call, after, n);
    struct work *work = run ? cuda_allocate(sizeof(*work) + bytes) : NULL;
    if (work) {
        work->call = *call;
        work->call.is_locked = false;
        work->run = run;
        memcpy(work->argument, argument, bytes);
    }
    const struct gpu_after start = {call->ready, before.task, before.n};
    uint32_t task = gpu_add_act(call->gpu, work ? act : NULL, work, &start);
    free(before.task);
    return task;
}

void cuda_wait_with(struct cuda_call *call, CUresult (*run)(struct cuda_call *call, const void *argument),
                    const void *argument, size_t bytes) {
    set_last(call, cuda_add_work(call, run, argument, bytes, NULL, 0));
}

void cuda_wait_for_all(struct cuda_call *call, const uint32_t *task, uint32_t n) {
    struct before before = before_node(call, task, n);
    if (before.n)
        set_last(call, gpu_add_act(call->gpu, NULL, NULL, &(struct gpu_after){call->ready, before.task, before.n}));
    free(before.task);
}

/* Returns the task that ends when those before new work of the stream, and `other`, have ended; 0: none. */
static uint32_t join(const struct cuda_call *call, uint32_t other) {
    struct before before = find_before(call);
    add_before(&before, other);
    uint32_t task = before.n == 1 ? before.task[0] : 0;
    if (before.n > 1)
        task = gpu_add_act(call->gpu, NULL, NULL, &(struct gpu_after){call->ready, before.task, before.n});
    free(before.task);
    return task;
}

uint32_t cuda_waiting_task(const struct cuda_call *call) { return join(call, 0); }

void cuda_stream_waits(const struct cuda_call *call, uint32_t task) {
    if (task)
        set_last(call, join(call, task));
}

/* --- the end of waiting --- */

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* All tasks have ended: replaces them by the times of their ends. */
static void resolve(struct cuda_call *call) {
    struct cuda_order *order = &call->state->order;
    bool has_timeline = gpu_has_timeline(call->gpu);
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call->state->objects, &at));) {
        struct CUstream_st *stream = entry->value;
        struct CUevent_st *event = entry->value;
        if (stream->object.kind == CUDA_KIND_STREAM && stream->task) {
            if (has_timeline)
                cuda_stream_ends(call, stream, gpu_task_end(call->gpu, stream->task));
            stream->task = 0;
        } else if (event->object.kind == CUDA_KIND_EVENT && event->task) {
            uint64_t end = gpu_task_end(call->gpu, event->task);
            event->cycle = has_timeline ? later(event->cycle, end) : 0;
            event->time_ns = has_timeline ? gpu_cycles_to_ns(call->gpu, event->cycle) : end;
            event->task = 0;
        }
    }
    if (order->default_task && has_timeline)
        cuda_stream_ends(call, NULL, gpu_task_end(call->gpu, order->default_task));
    order->default_task = 0;
    for (uint32_t task = 1; has_timeline && task <= gpu_count_tasks(call->gpu); task++)
        order->last_end = later(order->last_end, gpu_task_end(call->gpu, task));
}

void cuda_settle(struct cuda_call *call) {
    struct gpu_error error;
    if (!cuda_is_waiting(call))
        return;
    cuda_watch_waiting(&call->state->watch, false);
    struct cuda_call own = *call;
    own.context = call->state->waiting_context;
    cuda_interrupt_defer(true);
    bool is_done = gpu_run_tasks(call->gpu, &error);
    cuda_interrupt_defer(false);
    resolve(call);
    gpu_forget_tasks(call->gpu);
    cuda_results_note_launches(call->state);
    cuda_note_memory(call->state);
    if (is_done)
        cuda_results_write_sometimes(call->state);
    else
        cuda_launch_failed(&own, &error);
}
