/* Contexts: the primary context, contexts that a program creates, the current context of each thread, and their limits.
 *
 * All contexts share one device and one memory. The objects of a context are destroyed with it. A kernel that fails
 * leaves its error in the context. Every later call in that context returns the error, as on a real device, except
 * calls that end the context or detach it from the thread. */
#include "cuda/internal.h"

#include <stdlib.h>

static const unsigned known_flags = CU_CTX_FLAGS_MASK;

static struct CUctx_st *new_context(struct cuda_call *call, unsigned flags) {
    struct CUctx_st *context = cuda_object_new(call, CUDA_KIND_CONTEXT, sizeof(*context));
    context->object.context = context;
    context->flags = flags;
    context->id = ++call->state->next_id;
    context->printf_bytes = CUDA_DEFAULT_PRINTF_BYTES;
    context->l2_fetch_bytes = 64;
    context->n_pending_launches = 2048;
    return context;
}

static struct CUctx_st *find_context(const struct cuda_call *call, CUcontext handle) {
    return cuda_object_find(call, handle, CUDA_KIND_CONTEXT);
}

static void destroy_object(struct cuda_state *state, struct cuda_object *object) {
    switch (object->kind) {
    case CUDA_KIND_MODULE:
        cuda_module_destroy(state, (struct CUmod_st *)object);
        break;
    case CUDA_KIND_LINK:
        cuda_link_destroy(state, (struct CUlinkState_st *)object);
        break;
    case CUDA_KIND_MIPMAP: /* its levels are arrays of the context too */
        cuda_object_delete(state, object);
        break;
    case CUDA_KIND_ARRAY:
        cuda_array_destroy(state, (struct CUarray_st *)object);
        break;
    case CUDA_KIND_STREAM:
    case CUDA_KIND_EVENT:
        cuda_object_delete(state, object);
        break;
    default: /* functions and references end with their module; contexts, libraries and pools belong to no context */
        break;
    }
}

void cuda_context_destroy(struct cuda_state *state, struct CUctx_st *context) {
    cuda_textures_destroy(state, context);
    struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&state->objects, &at));) {
        struct cuda_object *object = entry->value;
        if (object->context == context)
            destroy_object(state, object);
    }
    for (size_t at = 0; (entry = cuda_table_next(&state->allocations, &at));) {
        struct cuda_allocation *allocation = entry->value;
        if (allocation->context == context)
            cuda_free_allocation(state, allocation);
    }
    cuda_table_remove(&state->objects, (uintptr_t)context);
    context->is_destroyed = true;
    context->next_destroyed = state->destroyed;
    state->destroyed = context;
}

/* ---- The primary context ---------------------------------------------------------------------------------------- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    if (!call.state->primary) {
        call.state->primary = new_context(&call, call.state->primary_flags);
        call.state->primary->is_primary = true;
    }
    call.state->primary_count++;
    *context = call.state->primary;
    return CUDA_SUCCESS;
}

static void reset_primary(struct cuda_state *state) {
    if (state->primary)
        cuda_context_destroy(state, state->primary);
    state->primary = NULL;
    state->primary_count = 0;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!call.state->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    cuda_settle(&call);
    if (--call.state->primary_count == 0)
        reset_primary(call.state);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    cuda_settle(&call);
    reset_primary(call.state);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (flags & ~known_flags)
        return CUDA_ERROR_INVALID_VALUE;
    call.state->primary_flags = flags;
    if (call.state->primary)
        call.state->primary->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = call.state->primary_flags;
    *active = call.state->primary != NULL;
    return CUDA_SUCCESS;
}

/* ---- Contexts of the program ------------------------------------------------------------------------------------ */

static CUresult create(CUcontext *context, unsigned flags, CUdevice device, bool has_affinity) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!context || flags & ~known_flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (has_affinity)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    struct CUctx_st *made = new_context(&call, flags);
    if (!cuda_push_context(made)) {
        cuda_context_destroy(call.state, made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *context = made;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *parameters, unsigned flags, CUdevice device) {
    bool is_shared = parameters && parameters->cigParams;
    if (is_shared) /* a context that shares the device with a graphics queue */
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(context, flags, device, parameters && parameters->numExecAffinityParams > 0);
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinity, int n_affinities, unsigned flags,
                        CUdevice device) {
    (void)affinity;
    return create(context, flags, device, n_affinities > 0);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    return create(context, flags, device, false);
}

CUresult cuCtxDestroy(CUcontext context) {
    CUDA_ENTER(call, cuda_enter_settled());
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    struct CUctx_st *found = find_context(&call, context);
    if (!found || found->is_primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (cuda_current_context() == found)
        cuda_pop_context();
    cuda_context_destroy(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext context) { return cuCtxDestroy(context); }

/* Contexts do not count attachments: attaching returns the current one. */
CUresult cuCtxAttach(CUcontext *context, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!context || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *context = call.context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    CUDA_ENTER(call, cuda_enter());
    if (!find_context(&call, context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return cuda_push_context(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuCtxPopCurrent(CUcontext *context) {
    CUDA_ENTER(call, cuda_enter());
    struct CUctx_st *current = cuda_pop_context();
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    CUDA_ENTER(call, cuda_enter());
    if (context && !find_context(&call, context))
        return CUDA_ERROR_INVALID_CONTEXT;
    cuda_pop_context();
    if (context)
        cuda_push_context(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    CUDA_ENTER(call, cuda_enter());
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = cuda_current_context();
    return CUDA_SUCCESS;
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

CUresult cuCtxGetDevice(CUdevice *device) {
    CUDA_ENTER(call, cuda_enter());
    if (!cuda_current_context())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    if (!context)
        return cuCtxGetDevice(device);
    CUDA_ENTER(call, cuda_enter());
    if (!find_context(&call, context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = call.context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    if (flags & ~known_flags)
        return CUDA_ERROR_INVALID_VALUE;
    call.context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    CUDA_ENTER(call, cuda_enter());
    struct CUctx_st *found = find_context(&call, context ? context : cuda_current_context());
    if (!found)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    *id = found->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    CUDA_ENTER(call, cuda_enter());
    if (!find_context(&call, context ? context : cuda_current_context()))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020; /* the interface's version, which has not changed since CUDA 3.2 */
    return CUDA_SUCCESS;
}

/* Every call has done its work when it returns. Only time passes here, and an error is reported. */
CUresult cuCtxSynchronize(void) {
    CUDA_ENTER(call, cuda_enter_context());
    cuda_host_waits(&call, call.state->order.last_end);
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
    if (!context)
        return cuCtxSynchronize();
    CUDA_ENTER(call, cuda_enter_settled());
    struct CUctx_st *found = find_context(&call, context);
    return found ? found->error : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- Limits and preferences ------------------------------------------------------------------------------------- */

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    CUDA_ENTER(call, cuda_enter_context());
    uint32_t most_persisting = gpu_config(call.gpu)->device.persisting_bytes;
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        if (value > UINT32_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        gpu_set_stack_bytes(call.gpu, (uint32_t)value);
        return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        gpu_set_heap_bytes(call.gpu, value);
        return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE: /* stored only: printed text is written at once and cannot overflow */
        call.context->printf_bytes = value;
        return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: /* stored only: there is room for all that kernels launch */
        call.context->n_pending_launches = value;
        return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > 128)
            return CUDA_ERROR_INVALID_VALUE;
        call.context->l2_fetch_bytes = value;
        return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: /* stored only */
        if (!most_persisting)
            return CUDA_ERROR_UNSUPPORTED_LIMIT;
        if (value > most_persisting)
            return CUDA_ERROR_INVALID_VALUE;
        call.context->persisting_bytes = value;
        return CUDA_SUCCESS;
    default:
        return limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
        *value = gpu_config(call.gpu)->stack_bytes;
        return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        *value = gpu_config(call.gpu)->heap_bytes;
        return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        *value = call.context->printf_bytes;
        return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
        *value = call.context->n_pending_launches;
        return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        *value = call.context->l2_fetch_bytes;
        return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        if (!gpu_config(call.gpu)->device.persisting_bytes)
            return CUDA_ERROR_UNSUPPORTED_LIMIT;
        *value = call.context->persisting_bytes;
        return CUDA_SUCCESS;
    default:
        return limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = call.context->cache_config;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    CUDA_ENTER(call, cuda_enter_context());
    if (config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    call.context->cache_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
}

/* Accepted and without effect, as on every device since compute capability 5.0. */
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    CUDA_ENTER(call, cuda_enter_context());
    return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    if (least)
        *least = CUDA_STREAM_LEAST_PRIORITY;
    if (greatest)
        *greatest = CUDA_STREAM_GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void) {
    CUDA_CALL call = cuda_enter_context();
    return call.result;
}

/* There is one device, and no context is its own peer. */
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer == call.context || !find_context(&call, peer))
        return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    CUDA_ENTER(call, cuda_enter_context());
    return find_context(&call, peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- Symbols of earlier versions -------------------------------------------------------------------------------- */

#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
CUDA_ALIAS(cuCtxCreate, cuCtxCreate_v2);
CUDA_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);
CUDA_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);
CUDA_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);
CUDA_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
CUDA_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
CUDA_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);
