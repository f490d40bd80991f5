/* Advice about managed memory: where it should be, and which side reads it. Nothing moves, because host and device
 * share one copy. Programs can query their advice.
 *
 * Advice applies to pages: a range extends from the start of its first page to the end of its last. */
#include "cuda/internal.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

/* The advice about a page. A location is CU_DEVICE_CPU, CU_DEVICE_INVALID (none) or the device, 0. */
struct cuda_advice {
    bool is_read_mostly, is_accessed_by_device, is_accessed_by_host;
    CUdevice preferred, prefetched;
};

/* The advice about pages `first` to `last` of one allocation. */
struct range {
    struct cuda_advice *page;
    uint64_t first, last;
};

static CUresult find_range(const struct cuda_call *call, CUdeviceptr address, size_t bytes, struct range *range) {
    struct cuda_allocation *allocation = cuda_find_allocation(call, address);
    if (!bytes || !allocation || allocation->kind != CUDA_MEMORY_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t begin = address - allocation->address, n_pages = (allocation->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    if (bytes > allocation->bytes - begin)
        return CUDA_ERROR_INVALID_VALUE;
    if (!allocation->advice) {
        allocation->advice = cuda_allocate(n_pages * sizeof(*allocation->advice));
        for (uint64_t i = 0; i < n_pages; i++)
            allocation->advice[i].preferred = allocation->advice[i].prefetched = CU_DEVICE_INVALID;
    }
    *range = (struct range){allocation->advice, begin / PAGE_BYTES, (begin + bytes - 1) / PAGE_BYTES};
    return CUDA_SUCCESS;
}

static CUdevice device_of(CUmemLocation location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

/* ---- Giving advice ----------------------------------------------------------------------------------------------- */

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                            CUstream stream) {
    CUDA_ENTER(call, cuda_enter_stream(stream));
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (device_of(location) > 0)
        return CUDA_ERROR_INVALID_DEVICE;
    struct range range;
    CUresult result = find_range(&call, address, bytes, &range);
    if (result != CUDA_SUCCESS)
        return result;
    for (uint64_t i = range.first; i <= range.last; i++)
        range.page[i].prefetched = device_of(location);
    return CUDA_SUCCESS;
}

static void advise(struct cuda_advice *page, CUmem_advise advice, CUdevice device) {
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        page->is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        page->preferred = device;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        page->preferred = CU_DEVICE_INVALID;
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        *(device == CU_DEVICE_CPU ? &page->is_accessed_by_host : &page->is_accessed_by_device) =
            advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
        break;
    }
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
    CUDA_ENTER(call, cuda_enter_context());
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    if (advice > CU_MEM_ADVISE_UNSET_READ_MOSTLY && device_of(location) > 0)
        return CUDA_ERROR_INVALID_DEVICE;
    struct range range;
    CUresult result = find_range(&call, address, bytes, &range);
    if (result != CUDA_SUCCESS)
        return result;
    for (uint64_t i = range.first; i <= range.last; i++)
        advise(&range.page[i], advice, device_of(location));
    return CUDA_SUCCESS;
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

/* Returns the advice on which all pages of the range agree. */
static struct cuda_advice common_advice(const struct range *range) {
    struct cuda_advice common = range->page[range->first];
    for (uint64_t i = range->first + 1; i <= range->last; i++) {
        const struct cuda_advice *page = &range->page[i];
        common.is_read_mostly &= page->is_read_mostly;
        common.is_accessed_by_device &= page->is_accessed_by_device;
        common.is_accessed_by_host &= page->is_accessed_by_host;
        common.preferred = page->preferred == common.preferred ? common.preferred : CU_DEVICE_INVALID;
        common.prefetched = page->prefetched == common.prefetched ? common.prefetched : CU_DEVICE_INVALID;
    }
    return common;
}

static int type_of(CUdevice device) {
    return device == CU_DEVICE_INVALID ? CU_MEM_LOCATION_TYPE_INVALID
           : device == CU_DEVICE_CPU   ? CU_MEM_LOCATION_TYPE_HOST
                                       : CU_MEM_LOCATION_TYPE_DEVICE;
}

/* Fills the list with devices, then with CU_DEVICE_INVALID. */
static CUresult list_accessors(const struct cuda_advice *advice, CUdevice *list, size_t bytes) {
    size_t n = bytes / sizeof(*list), used = 0;
    if (!n || bytes % sizeof(*list))
        return CUDA_ERROR_INVALID_VALUE;
    if (advice->is_accessed_by_device)
        list[used++] = 0;
    if (advice->is_accessed_by_host && used < n)
        list[used++] = CU_DEVICE_CPU;
    while (used < n)
        list[used++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult get(const struct cuda_advice *advice, CUmem_range_attribute attribute, void *data, size_t bytes) {
    int value;
    if (!data)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        value = advice->is_read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        value = advice->preferred;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        return list_accessors(advice, data, bytes);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = advice->prefetched;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        value = type_of(advice->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        value = type_of(advice->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: /* means something for devices only */
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        value = 0;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes != sizeof(value))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(data, &value, sizeof(value));
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *data_bytes, CUmem_range_attribute *attributes, size_t n,
                                 CUdeviceptr address, size_t bytes) {
    CUDA_ENTER(call, cuda_enter_context());
    struct range range;
    if (!data || !data_bytes || !attributes || !n)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = find_range(&call, address, bytes, &range);
    if (result != CUDA_SUCCESS)
        return result;
    const struct cuda_advice advice = common_advice(&range);
    for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
        result = get(&advice, attributes[i], data[i], data_bytes[i]);
    return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t data_bytes, CUmem_range_attribute attribute, CUdeviceptr address,
                                size_t bytes) {
    return cuMemRangeGetAttributes(&data, &data_bytes, &attribute, 1, address, bytes);
}

/* ---- Symbols of earlier versions and of per-thread streams ------------------------------------------------------ */

#undef cuMemAdvise
#undef cuMemPrefetchAsync
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream);

static CUmemLocation location_of(CUdevice device) {
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(address, bytes, advice, location_of(device));
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream);
}

CUDA_ALIAS(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync);
CUDA_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2);
