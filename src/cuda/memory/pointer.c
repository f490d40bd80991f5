/* Attributes of pointers: cuPointerGetAttribute and cuPointerGetAttributes. */
#include "cuda/internal.h"

#include <string.h>

/* Writes the attribute of memory that the driver knows. */
static CUresult describe(const struct cuda_allocation *a, CUpointer_attribute attribute, CUdeviceptr address,
                         void *data) {
    uint64_t offset = address - a->address;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = a->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = a->kind == CUDA_MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!a->host)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = a->host + offset;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(int *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(unsigned long long *)data = a->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(int *)data = a->kind == CUDA_MEMORY_MANAGED;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = a->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = a->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(int *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)data = 3; /* read and write */
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = a->pool;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = CU_MEM_HANDLE_TYPE_NONE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        *(int *)data = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Finds the memory that contains a pointer: an allocation, by its device or its host address, or a module's variable.
 * *address becomes the device address. */
static bool find(const struct cuda_call *call, CUdeviceptr *address, struct cuda_allocation *found) {
    const struct cuda_allocation *known = cuda_find_allocation(call, *address);
    if (!known && (known = cuda_find_host_memory(call, *address)))
        *address = known->address + (*address - (uintptr_t)known->host);
    if (known) {
        *found = *known;
        return true;
    }
    *found = (struct cuda_allocation){.kind = CUDA_MEMORY_DEVICE, .context = call->context};
    return gpu_find_allocation(call->gpu, *address, &found->address, &found->bytes);
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
    CUDA_ENTER(call, cuda_enter());
    struct cuda_allocation found;
    if (!data || !find(&call, &address, &found))
        return CUDA_ERROR_INVALID_VALUE;
    return describe(&found, attribute, address, data);
}

static size_t attribute_bytes(CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
        return 4;
    default:
        return 8;
    }
}

/* An unknown pointer is not an error here: its attributes are NULL, 0, and device -2. */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address) {
    CUDA_ENTER(call, cuda_enter());
    if (!count || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    struct cuda_allocation found;
    bool is_known = find(&call, &address, &found);
    for (unsigned i = 0; i < count; i++) {
        if (!data[i] || attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
            attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
            return CUDA_ERROR_INVALID_VALUE;
        if (is_known && describe(&found, attributes[i], address, data[i]) == CUDA_SUCCESS)
            continue;
        memset(data[i], 0, attribute_bytes(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = CU_DEVICE_INVALID;
    }
    return CUDA_SUCCESS;
}

/* The one attribute that can be set asks for a property that always holds: copies are complete when the call
 * returns. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    CUDA_ENTER(call, cuda_enter());
    struct cuda_allocation found;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !find(&call, &address, &found))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
