/* Streams. A call does its work before it returns, or leaves it to the device (waiting.c). order.c determines when the
 * work runs. */
#include "cuda/internal.h"

#include <string.h>

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    if (!stream || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUstream_st *made = cuda_object_new(&call, CUDA_KIND_STREAM, sizeof(*made));
    made->flags = flags;
    cuda_stream_made(&call, made);
    made->priority = priority; /* clamped to the range of the device */
    if (made->priority > CUDA_STREAM_LEAST_PRIORITY)
        made->priority = CUDA_STREAM_LEAST_PRIORITY;
    if (made->priority < CUDA_STREAM_GREATEST_PRIORITY)
        made->priority = CUDA_STREAM_GREATEST_PRIORITY;
    made->id = ++call.state->next_id;
    *stream = made;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

CUresult cuStreamDestroy(CUstream stream) {
    CUDA_ENTER(call, cuda_enter_context());
    CUDA_FIND(struct CUstream_st, found, cuda_object_find(&call, stream, CUDA_KIND_STREAM));
    cuda_object_delete(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    cuda_host_waits(&call, call.ready);
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) { return cuStreamSynchronize(stream); }

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_waiting(stream));
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct CUevent_st *found = cuda_object_find(&call, event, CUDA_KIND_EVENT);
    struct CUstream_st *waiting = cuda_object_find(&call, stream, CUDA_KIND_STREAM);
    if (found && found->capture && waiting)
        return cuda_capture_wait(found->capture, waiting, found);
    if (found && !found->capture) {
        cuda_stream_ends(&call, call.stream, found->cycle);
        cuda_stream_waits(&call, found->task);
    }
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *user, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!callback || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (cuda_capture_of(&call, stream))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    cuda_unlock(&call);
    callback(stream, CUDA_SUCCESS, user);
    return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    (void)bytes;
    const struct cuda_allocation *allocation = cuda_find_allocation(&call, address);
    bool is_flag = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE;
    return is_flag && allocation && allocation->kind == CUDA_MEMORY_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

/* Returns the stream's object, or a standard one for the default streams, which have none. */
static const struct CUstream_st *made_with(const struct cuda_call *call, CUstream stream) {
    static const struct CUstream_st standard = {.flags = CU_STREAM_DEFAULT};
    const struct CUstream_st *found = cuda_object_find(call, stream, CUDA_KIND_STREAM);
    return found ? found : &standard;
}

/* A query for each property of a stream. */
#define GET(name, type, property)                                                                                      \
    CUresult name(CUstream stream, type *value) {                                                                      \
        CUDA_ENTER(call, cuda_enter_waiting(stream));                                                                  \
        if (!value)                                                                                                    \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
        *value = property;                                                                                             \
        return CUDA_SUCCESS;                                                                                           \
    }
GET(cuStreamGetPriority, int, made_with(&call, stream)->priority)
GET(cuStreamGetFlags, unsigned, made_with(&call, stream)->flags)
GET(cuStreamGetId, unsigned long long, made_with(&call, stream)->id)
GET(cuStreamGetDevice, CUdevice, 0)
#undef GET

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    const struct CUstream_st *found = made_with(&call, stream);
    *context = found->object.context ? found->object.context : call.context;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green) {
    if (green)
        *green = NULL;
    return cuStreamGetCtx(stream, context);
}

/* Attributes are hints on caches, waiting and order. They can be read back, and have no effect. */
static CUlaunchAttributeValue *attributes_of(const struct cuda_call *call, CUstream stream) {
    struct CUstream_st *found = cuda_object_find(call, stream, CUDA_KIND_STREAM);
    return found ? found->attribute : call->state->stream_attribute;
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!value || (unsigned)attribute >= CUDA_STREAM_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    attributes_of(&call, stream)[attribute] = *value;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (!value || (unsigned)attribute >= CUDA_STREAM_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    *value = attributes_of(&call, stream)[attribute];
    return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    CUDA_ENTER(call, cuda_enter_stream(to));
    bool is_default = !from || from == CU_STREAM_LEGACY || from == CU_STREAM_PER_THREAD;
    if (!is_default && !cuda_object_find(&call, from, CUDA_KIND_STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    memmove(attributes_of(&call, to), attributes_of(&call, from),
            CUDA_STREAM_ATTRIBUTES * sizeof(CUlaunchAttributeValue));
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = cuda_exchange_capture_mode(*mode);
    return CUDA_SUCCESS;
}

#undef cuStreamDestroy
CUDA_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);
CUDA_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);
CUDA_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);
CUDA_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);
CUDA_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback);
CUDA_ALIAS(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync);
CUDA_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);
CUDA_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);
CUDA_ALIAS(cuStreamGetId_ptsz, cuStreamGetId);
CUDA_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice);
CUDA_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);
CUDA_ALIAS(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2);
CUDA_ALIAS(cuStreamSetAttribute_ptsz, cuStreamSetAttribute);
CUDA_ALIAS(cuStreamGetAttribute_ptsz, cuStreamGetAttribute);
CUDA_ALIAS(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes);
