/* Memory pools: they count allocations. Memory goes back to the device when it is freed, so a pool reserves nothing and
 * its thresholds have no effect. */
#include "cuda/internal.h"

#include <stdlib.h>

static struct CUmemPoolHandle_st *new_pool(struct cuda_call *call) {
    struct CUctx_st *context = call->context;
    call->context = NULL; /* a pool belongs to the device */
    struct CUmemPoolHandle_st *pool = cuda_object_new(call, CUDA_KIND_POOL, sizeof(*pool));
    call->context = context;
    pool->attribute[CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = 1;
    pool->attribute[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC] = 1;
    pool->attribute[CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES] = 1;
    return pool;
}

static struct CUmemPoolHandle_st *default_pool(struct cuda_call *call) {
    if (!call->state->default_pool) {
        call->state->default_pool = new_pool(call);
        call->state->default_pool->is_default = true;
    }
    return call->state->default_pool;
}

struct CUmemPoolHandle_st *cuda_current_pool(struct cuda_call *call) {
    return call->state->current_pool ? call->state->current_pool : default_pool(call);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = default_pool(&call);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    CUDA_ENTER(call, cuda_enter_device(device));
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    *pool = cuda_current_pool(&call);
    return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    CUDA_ENTER(call, cuda_enter_device(device));
    struct CUmemPoolHandle_st *found = cuda_object_find(&call, pool, CUDA_KIND_POOL);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    call.state->current_pool = found;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    CUDA_ENTER(call, cuda_enter());
    if (!pool || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE || properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED,
                           "cuMemPoolCreate: a pool of host memory or for several processes is not supported");
    if (properties->location.id != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *pool = new_pool(&call);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    CUDA_ENTER(call, cuda_enter());
    struct CUmemPoolHandle_st *found = cuda_object_find(&call, pool, CUDA_KIND_POOL);
    if (!found || found->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    /* Its allocations live on, as in CUDA. */
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call.state->allocations, &at));) {
        struct cuda_allocation *allocation = entry->value;
        if (allocation->pool == found)
            allocation->pool = NULL;
    }
    if (call.state->current_pool == found)
        call.state->current_pool = NULL;
    cuda_object_delete(call.state, found);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep) {
    CUDA_ENTER(call, cuda_enter());
    (void)bytes_to_keep;
    return cuda_object_find(&call, pool, CUDA_KIND_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The switches are int, the amounts are 64-bit. */
static bool is_switch(CUmemPool_attribute attribute) {
    return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static bool is_attribute(CUmemPool_attribute attribute) {
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    CUDA_ENTER(call, cuda_enter());
    struct CUmemPoolHandle_st *found = cuda_object_find(&call, pool, CUDA_KIND_POOL);
    if (!found || !value || !is_attribute(attribute))
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t wanted = is_switch(attribute) ? (uint64_t)(*(int *)value != 0) : *(cuuint64_t *)value;
    bool is_mark = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    if (is_mark && wanted != 0)
        return CUDA_ERROR_INVALID_VALUE; /* a high-water mark can only be reset */
    found->attribute[attribute] = is_mark ? found->attribute[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] : wanted;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    CUDA_ENTER(call, cuda_enter());
    const struct CUmemPoolHandle_st *found = cuda_object_find(&call, pool, CUDA_KIND_POOL);
    if (!found || !value || !is_attribute(attribute))
        return CUDA_ERROR_INVALID_VALUE;
    CUmemPool_attribute source = attribute; /* reserved memory is used memory */
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
        source = CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        source = CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    if (is_switch(attribute))
        *(int *)value = (int)found->attribute[source];
    else
        *(cuuint64_t *)value = found->attribute[source];
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
    CUDA_ENTER(call, cuda_enter());
    if (!cuda_object_find(&call, pool, CUDA_KIND_POOL) || (count && !access))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || access[i].location.id != 0)
            return CUDA_ERROR_INVALID_DEVICE;
        else if (access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE; /* its own device always has full access */
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location) {
    CUDA_ENTER(call, cuda_enter());
    if (!flags || !location || !cuda_object_find(&call, pool, CUDA_KIND_POOL))
        return CUDA_ERROR_INVALID_VALUE;
    bool is_device = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == 0;
    *flags = is_device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
