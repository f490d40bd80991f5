/* Allocations: device memory, host memory that kernels can access, managed memory, and attributes of pointers.
 *
 * All three come from the device's arena, which is ordinary memory of this process, so the host can always access it.
 * If the arena's device addresses are its host addresses (gpu_is_unified), host and managed memory have one pointer for
 * both sides. Otherwise host memory has two pointers and there is no managed memory. Host allocations count as used
 * device memory here. */
#include "cuda/internal.h"

#include <stdlib.h>

void cuda_note_memory(struct cuda_state *state) {
    uint64_t used = gpu_memory_used(state->gpu);
    if (used > state->peak_bytes) {
        state->peak_bytes = used;
        state->n_changes++;
    }
}

struct cuda_allocation *cuda_find_allocation(const struct cuda_call *call, uint64_t address) {
    uint64_t base, bytes;
    if (!gpu_find_allocation(call->gpu, address, &base, &bytes))
        return NULL;
    return cuda_table_get(&call->state->allocations, base);
}

void cuda_free_allocation(struct cuda_state *state, struct cuda_allocation *allocation) {
    cuda_table_remove(&state->allocations, allocation->address);
    if (allocation->host)
        cuda_table_remove(&state->host_memory, (uintptr_t)allocation->host);
    if (allocation->registered) {
        cuda_unregister(state, allocation);
        state->n_registered--;
    }
    if (allocation->pool)
        allocation->pool->attribute[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] -= allocation->bytes;
    if (allocation->block)
        cuda_graph_block_freed(state, allocation->block);
    else
        gpu_release(state->gpu, allocation->address);
    free(allocation->advice);
    free(allocation);
}

/* Returns NULL if it does not fit. */
static struct cuda_allocation *allocate(struct cuda_call *call, enum cuda_memory kind, uint64_t bytes, unsigned flags) {
    uint64_t alignment = kind == CUDA_MEMORY_DEVICE ? CUDA_ALLOCATION_ALIGNMENT : CUDA_PAGE_BYTES;
    uint64_t address = gpu_malloc(call->gpu, bytes, alignment);
    if (!address)
        return NULL;
    struct cuda_allocation *allocation = cuda_allocate(sizeof(*allocation));
    *allocation = (struct cuda_allocation){
        .kind = kind,
        .address = address,
        .bytes = bytes,
        .flags = flags,
        .id = ++call->state->next_id,
        .context = call->context,
    };
    cuda_table_put(&call->state->allocations, address, allocation);
    if (kind == CUDA_MEMORY_HOST)
        gpu_place_on_host(call->gpu, address, bytes);
    if (kind == CUDA_MEMORY_DEVICE) {
        gpu_note_unwritten(call->gpu, address, bytes);
    } else {
        allocation->host = gpu_host(call->gpu, address, bytes);
        cuda_table_put(&call->state->host_memory, (uintptr_t)allocation->host, allocation);
    }
    cuda_note_memory(call->state);
    return allocation;
}

/* ---- Device memory ---------------------------------------------------------------------------------------------- */

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    if (!free_bytes || !total_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t total = gpu_config(call.gpu)->memory_bytes, used = gpu_memory_used(call.gpu);
    *total_bytes = total;
    *free_bytes = used < total ? total - used : 0;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    if (!address || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cuda_allocation *allocation = allocate(&call, CUDA_MEMORY_DEVICE, bytes, 0);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = allocation->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width_bytes, size_t height,
                         unsigned element_bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!address || !pitch || !width_bytes || !height)
        return CUDA_ERROR_INVALID_VALUE;
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t line = (width_bytes + CUDA_PITCH_ALIGNMENT - 1) & ~(uint64_t)(CUDA_PITCH_ALIGNMENT - 1), bytes;
    if (line < width_bytes || __builtin_mul_overflow(line, height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const struct cuda_allocation *allocation = allocate(&call, CUDA_MEMORY_DEVICE, bytes, 0);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = allocation->address;
    *pitch = line;
    return CUDA_SUCCESS;
}

static CUresult release(struct cuda_call *call, CUdeviceptr address) {
    if (!address)
        return CUDA_SUCCESS;
    struct cuda_allocation *allocation = cuda_table_get(&call->state->allocations, address);
    if (!allocation || allocation->kind == CUDA_MEMORY_HOST)
        return cuda_refuse(call, CUDA_ERROR_INVALID_VALUE, "cuMemFree: no device allocation starts at 0x%llx", address);
    cuda_free_allocation(call->state, allocation);
    return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
    CUDA_CALL call = cuda_enter_context();
    return call.result != CUDA_SUCCESS ? call.result : release(&call, address);
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    uint64_t found_base, found_bytes;
    if (!gpu_find_allocation(call.gpu, address, &found_base, &found_bytes))
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = found_base;
    if (bytes)
        *bytes = found_bytes;
    return CUDA_SUCCESS;
}

/* ---- In the order of a stream, and from pools: done at once ----------------------------------------------------- */

static CUresult allocate_from_pool(struct cuda_call *call, CUdeviceptr *address, size_t bytes,
                                   struct CUmemPoolHandle_st *pool) {
    if (!address || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_allocation *allocation = allocate(call, CUDA_MEMORY_DEVICE, bytes, 0);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    allocation->pool = pool;
    uint64_t *attribute = pool->attribute;
    attribute[CU_MEMPOOL_ATTR_USED_MEM_CURRENT] += bytes;
    if (attribute[CU_MEMPOOL_ATTR_USED_MEM_HIGH] < attribute[CU_MEMPOOL_ATTR_USED_MEM_CURRENT])
        attribute[CU_MEMPOOL_ATTR_USED_MEM_HIGH] = attribute[CU_MEMPOOL_ATTR_USED_MEM_CURRENT];
    *address = allocation->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    return capture ? cuda_capture_allocation(&call, capture, address, bytes)
                   : allocate_from_pool(&call, address, bytes, cuda_current_pool(&call));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct CUmemPoolHandle_st *found = cuda_object_find(&call, pool, CUDA_KIND_POOL);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    return capture ? cuda_capture_allocation(&call, capture, address, bytes)
                   : allocate_from_pool(&call, address, bytes, found);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    struct cuda_capture *capture = cuda_capture_of(&call, stream);
    return capture ? cuda_capture_free(&call, capture, address) : release(&call, address);
}

/* ---- Host memory ------------------------------------------------------------------------------------------------ */

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!memory || !bytes || flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cuda_allocation *allocation = allocate(&call, CUDA_MEMORY_HOST, bytes, flags);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *memory = allocation->host;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void **memory, size_t bytes) { return cuMemHostAlloc(memory, bytes, 0); }

CUresult cuMemFreeHost(void *memory) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!memory)
        return CUDA_SUCCESS;
    struct cuda_allocation *allocation = cuda_table_get(&call.state->host_memory, (uintptr_t)memory);
    if (!allocation || allocation->kind != CUDA_MEMORY_HOST || allocation->registered)
        return CUDA_ERROR_INVALID_VALUE;
    cuda_free_allocation(call.state, allocation);
    return CUDA_SUCCESS;
}

struct cuda_allocation *cuda_find_host_memory(const struct cuda_call *call, uint64_t memory) {
    if (gpu_is_unified(call->gpu)) {
        struct cuda_allocation *found = cuda_find_allocation(call, memory);
        if (found && found->host && !found->registered)
            return found;
        if (!call->state->n_registered)
            return NULL;
    }
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call->state->host_memory, &at));) {
        struct cuda_allocation *allocation = entry->value;
        if (memory - (uintptr_t)allocation->host < allocation->bytes)
            return allocation;
    }
    return NULL;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *memory, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_waiting(NULL));
    if (!address || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cuda_allocation *allocation = cuda_find_host_memory(&call, (uintptr_t)memory);
    if (!allocation)
        return CUDA_ERROR_INVALID_VALUE;
    *address = allocation->address + ((uintptr_t)memory - (uintptr_t)allocation->host);
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *memory) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct cuda_allocation *allocation = flags ? cuda_find_host_memory(&call, (uintptr_t)memory) : NULL;
    if (!allocation || allocation->kind != CUDA_MEMORY_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = allocation->flags | CU_MEMHOSTALLOC_DEVICEMAP; /* kernels can access all of it */
    return CUDA_SUCCESS;
}

/* ---- Managed memory --------------------------------------------------------------------------------------------- */

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!address || !bytes || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu_is_unified(call.gpu))
        return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED,
                           "cuMemAllocManaged: this process has no room at the device's addresses");
    const struct cuda_allocation *allocation = allocate(&call, CUDA_MEMORY_MANAGED, bytes, flags);
    if (!allocation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = allocation->address;
    return CUDA_SUCCESS;
}

/* ---- Symbols of per-thread streams ------------------------------------------------------------------------------- */

CUDA_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);
CUDA_ALIAS(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync);
CUDA_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);
