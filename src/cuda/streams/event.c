/* Events: marks on the device's simulated clock. */
#include "cuda/internal.h"

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!event || flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    struct CUevent_st *made = cuda_object_new(&call, CUDA_KIND_EVENT, sizeof(*made));
    made->flags = flags;
    *event = made;
    return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    CUDA_FIND(struct CUevent_st, found, cuda_object_find(&call, event, CUDA_KIND_EVENT));
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    found->capture = cuda_capture_of(&call, stream);
    if (found->capture) {
        cuda_capture_event(found->capture, cuda_object_find(&call, stream, CUDA_KIND_STREAM), found);
        return CUDA_SUCCESS;
    }
    cuda_event_record(&call, found);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

CUresult cuEventSynchronize(CUevent event) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(const struct CUevent_st, found, cuda_object_find(&call, event, CUDA_KIND_EVENT));
    cuda_host_waits(&call, found->cycle);
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) { return cuEventSynchronize(event); }

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct CUevent_st *first = cuda_object_find(&call, start, CUDA_KIND_EVENT);
    const struct CUevent_st *second = cuda_object_find(&call, end, CUDA_KIND_EVENT);
    if (!first || !second)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    if ((first->flags | second->flags) & CU_EVENT_DISABLE_TIMING || !first->is_recorded || !second->is_recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(second->time_ns - first->time_ns) * 1e-6);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUevent_st, found, cuda_object_find(&call, event, CUDA_KIND_EVENT));
    cuda_object_delete(call.state, found);
    return CUDA_SUCCESS;
}

#undef cuEventDestroy
#undef cuEventElapsedTime
CUDA_ALIAS(cuEventDestroy, cuEventDestroy_v2);
CUDA_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2);
CUDA_ALIAS(cuEventRecord_ptsz, cuEventRecord);
CUDA_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);
