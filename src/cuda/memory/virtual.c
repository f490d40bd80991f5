/* Virtual memory management: reserves addresses, creates memory, maps one to the other.
 *
 * Mapped memory can be read and written immediately. cuMemSetAccess() is checked and changes nothing, because there is
 * one device and the host can access all of its memory. */
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULARITY = 2 << 20 };

/* The memory of a handle; lives as long as the handle or a mapping of it. */
struct cuda_pages {
    struct cuda_object object;
    int file;
    uint64_t bytes;
    unsigned n_handles, n_mappings;
    CUmemAllocationProp properties;
};

struct cuda_mapping {
    uint64_t address, bytes;
    struct cuda_pages *pages;
};

static struct cuda_pages *find_pages(const struct cuda_call *call, CUmemGenericAllocationHandle handle) {
    struct cuda_pages *pages = cuda_object_find(call, (void *)(uintptr_t)handle, CUDA_KIND_PAGES);
    return pages && pages->n_handles ? pages : NULL;
}

static void release_if_unused(struct cuda_state *state, struct cuda_pages *pages) {
    if (pages->n_handles || pages->n_mappings)
        return;
    gpu_pages_free(state->gpu, pages->file, pages->bytes);
    cuda_object_delete(state, pages);
}

static struct cuda_mapping *find_mapping(const struct cuda_call *call, uint64_t address) {
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call->state->mappings, &at));) {
        struct cuda_mapping *mapping = entry->value;
        if (address - mapping->address < mapping->bytes)
            return mapping;
    }
    return NULL;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* The program cannot choose the address of the range. */
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
    CUDA_ENTER(call, cuda_enter());
    (void)wish;
    if (!address || !bytes || bytes % GRANULARITY || flags || (alignment & (alignment - 1)))
        return CUDA_ERROR_INVALID_VALUE;
    *address = gpu_range_reserve(call.gpu, bytes, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (!*address)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t *kept = cuda_allocate(sizeof(*kept));
    *kept = bytes;
    cuda_table_put(&call.state->ranges, *address, kept);
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    CUDA_ENTER(call, cuda_enter());
    const uint64_t *reserved = cuda_table_get(&call.state->ranges, address);
    if (!reserved || *reserved != bytes)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint64_t at = address; at < address + bytes; at += GRANULARITY)
        if (find_mapping(&call, at))
            return cuda_refuse(&call, CUDA_ERROR_INVALID_VALUE, "cuMemAddressFree: memory is mapped in the range");
    free(cuda_table_remove(&call.state->ranges, address));
    return CUDA_SUCCESS;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static bool is_ours(const CUmemAllocationProp *properties) {
    return properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id == 0;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option) {
    CUDA_ENTER(call, cuda_enter());
    if (!bytes || !is_ours(properties) || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties,
                     unsigned long long flags) {
    CUDA_ENTER(call, cuda_enter());
    if (!handle || !bytes || bytes % GRANULARITY || !is_ours(properties) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return cuda_refuse(&call, CUDA_ERROR_NOT_SUPPORTED, "cuMemCreate: handles cannot be given to other processes");
    int file = gpu_pages_new(call.gpu, bytes);
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct cuda_pages *pages = cuda_object_new(&call, CUDA_KIND_PAGES, sizeof(*pages));
    pages->object.context = NULL;
    pages->file = file;
    pages->bytes = bytes;
    pages->n_handles = 1;
    pages->properties = *properties;
    *handle = (uintptr_t)pages;
    cuda_note_memory(call.state);
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    CUDA_ENTER(call, cuda_enter_settled());
    struct cuda_pages *pages = find_pages(&call, handle);
    if (!pages)
        return CUDA_ERROR_INVALID_VALUE;
    pages->n_handles--;
    release_if_unused(call.state, pages);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle) {
    CUDA_ENTER(call, cuda_enter());
    const struct cuda_pages *pages = find_pages(&call, handle);
    if (!pages || !properties)
        return CUDA_ERROR_INVALID_VALUE;
    *properties = pages->properties;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    CUDA_ENTER(call, cuda_enter());
    const struct cuda_mapping *mapping = find_mapping(&call, (uintptr_t)address);
    if (!mapping || !handle)
        return CUDA_ERROR_INVALID_VALUE;
    mapping->pages->n_handles++;
    *handle = (uintptr_t)mapping->pages;
    return CUDA_SUCCESS;
}

/* ---- Mappings ---------------------------------------------------------------------------------------------------- */

static bool is_reserved(const struct cuda_call *call, uint64_t address, uint64_t bytes) {
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call->state->ranges, &at));) {
        uint64_t size = *(const uint64_t *)entry->value;
        if (address - entry->key < size && bytes <= size - (address - entry->key))
            return true;
    }
    return false;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    CUDA_ENTER(call, cuda_enter());
    struct cuda_pages *pages = find_pages(&call, handle);
    if (!pages || !bytes || flags || (address | bytes | offset) % GRANULARITY || offset > pages->bytes ||
        bytes > pages->bytes - offset || !is_reserved(&call, address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu_range_map(call.gpu, address, bytes, pages->file, offset))
        return cuda_refuse(&call, CUDA_ERROR_INVALID_VALUE, "cuMemMap: memory is mapped at 0x%llx already", address);
    struct cuda_mapping *mapping = cuda_allocate(sizeof(*mapping));
    *mapping = (struct cuda_mapping){address, bytes, pages};
    pages->n_mappings++;
    cuda_table_put(&call.state->mappings, address, mapping);
    return CUDA_SUCCESS;
}

/* All mappings that begin in the range must end in it, and it must not cut one. */
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    CUDA_ENTER(call, cuda_enter_settled());
    const struct cuda_mapping *first = find_mapping(&call, address);
    if (!bytes || !first || first->address != address)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call.state->mappings, &at));) {
        const struct cuda_mapping *mapping = entry->value;
        if (mapping->address - address < bytes && mapping->bytes > bytes - (mapping->address - address))
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t at = 0; (entry = cuda_table_next(&call.state->mappings, &at));) {
        struct cuda_mapping *mapping = entry->value;
        if (mapping->address - address >= bytes)
            continue;
        gpu_range_unmap(call.gpu, mapping->address, mapping->bytes);
        cuda_table_remove(&call.state->mappings, mapping->address);
        mapping->pages->n_mappings--;
        release_if_unused(call.state, mapping->pages);
        free(mapping);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
    CUDA_ENTER(call, cuda_enter());
    if (!bytes || !access || !count || !gpu_host(call.gpu, address, bytes) || !find_mapping(&call, address))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && access[i].location.id != 0)
            return CUDA_ERROR_INVALID_DEVICE;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address) {
    CUDA_ENTER(call, cuda_enter());
    if (!flags || !location || !find_mapping(&call, address))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}
