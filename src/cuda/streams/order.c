/* Decides when the work of streams may start on the device's timeline.
 *
 * The work of a stream runs in the order of the calls. Work of the default stream waits for the work of all other
 * streams, and those streams wait for it, unless they were made with CU_STREAM_NON_BLOCKING. A stream that waits for an
 * event starts no work before it. The program's own time is the device's time when a call last waited for the device.
 * Nothing starts earlier than that. A call that only asks whether work has ended waits for it too, because Heddle does
 * not know how long the program would have asked. The calls themselves take no time.
 *
 * Machines without a link have no timeline. On them all cycles in this file are 0, and events show the time that
 * kernels took. */
#include "cuda/internal.h"

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t cuda_stream_ready(const struct cuda_call *call, CUstream stream) {
    const struct cuda_order *order = &call->state->order;
    const struct CUstream_st *found = cuda_object_find(call, stream, CUDA_KIND_STREAM);
    if (!found)
        return later(order->host, later(order->default_end, order->blocking_end));
    uint64_t ready = later(order->host, found->end);
    return found->flags & CU_STREAM_NON_BLOCKING ? ready : later(ready, order->default_end);
}

void cuda_stream_ends(const struct cuda_call *call, CUstream stream, uint64_t end) {
    struct cuda_order *order = &call->state->order;
    struct CUstream_st *found = cuda_object_find(call, stream, CUDA_KIND_STREAM);
    order->last_end = later(order->last_end, end);
    if (!found) {
        order->default_end = later(order->default_end, end);
        return;
    }
    found->end = later(found->end, end);
    if (!(found->flags & CU_STREAM_NON_BLOCKING))
        order->blocking_end = later(order->blocking_end, end);
}

void cuda_host_waits(const struct cuda_call *call, uint64_t end) {
    call->state->order.host = later(call->state->order.host, end);
}

static uint32_t number_of(const struct cuda_call *call) {
    const struct CUstream_st *found = cuda_object_find(call, call->stream, CUDA_KIND_STREAM);
    return found ? (uint32_t)found->id : 0;
}

/* Notes the end of the work that was added last. */
static void note_end(struct cuda_call *call) {
    uint32_t count;
    const struct gpu_work *work = gpu_timeline(call->gpu, &count);
    call->end = work[count - 1].end;
    cuda_stream_ends(call, call->stream, call->end);
}

void cuda_add_copy(struct cuda_call *call, enum gpu_work_kind kind, uint64_t bytes) {
    if (!gpu_has_timeline(call->gpu))
        return;
    gpu_add_copy(call->gpu, kind, bytes, number_of(call), call->ready);
    call->state->n_changes++;
    note_end(call);
}

bool cuda_launch_on_timeline(struct cuda_call *call, struct gpu_launch *launch, struct gpu_error *error) {
    uint32_t before, after;
    launch->stream = number_of(call);
    launch->ready = call->ready;
    gpu_timeline(call->gpu, &before);
    bool is_done = gpu_launch(call->gpu, launch, error);
    gpu_timeline(call->gpu, &after);
    if (after > before)
        note_end(call);
    return is_done;
}

void cuda_event_record(const struct cuda_call *call, struct CUevent_st *event) {
    event->is_recorded = true;
    event->task = cuda_waiting_task(call);
    event->cycle = call->ready;
    event->time_ns = gpu_has_timeline(call->gpu) ? gpu_cycles_to_ns(call->gpu, event->cycle) : gpu_time_ns(call->gpu);
}
