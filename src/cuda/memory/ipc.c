/* Handles for other processes. A program can make a handle as on a GPU, but no process can open it, because every
 * process simulates its own device. */
#include "cuda/internal.h"

#include <string.h>
#include <unistd.h>

/* The contents of a handle. */
struct content {
    uint64_t magic, object;
    int64_t pid;
};

static const uint64_t MAGIC = 0x6863756c64646568ull;

static void fill(void *handle, uint64_t object) {
    const struct content content = {MAGIC, object, getpid()};
    memset(handle, 0, sizeof(CUipcMemHandle));
    memcpy(handle, &content, sizeof(content));
}

/* A process cannot open its own handle on a GPU either. */
static CUresult open_handle(const struct cuda_call *call, const char *function, const void *handle) {
    struct content content;
    memcpy(&content, handle, sizeof(content));
    if (content.magic != MAGIC)
        return CUDA_ERROR_INVALID_HANDLE;
    if (content.pid == getpid())
        return CUDA_ERROR_INVALID_CONTEXT;
    return cuda_refuse(call, CUDA_ERROR_NOT_SUPPORTED, "%s: another process has another simulated GPU", function);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct cuda_allocation *allocation = cuda_find_allocation(&call, address);
    if (!handle || !allocation || allocation->kind != CUDA_MEMORY_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    fill(handle, allocation->address);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    if (!address || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    return open_handle(&call, "cuIpcOpenMemHandle", &handle);
}

/* Nothing is ever open. */
CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    CUDA_CALL call = cuda_enter_context();
    (void)address;
    return call.result != CUDA_SUCCESS ? call.result : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event) {
    CUDA_ENTER(call, cuda_enter_context());
    const struct CUevent_st *found = cuda_object_find(&call, event, CUDA_KIND_EVENT);
    if (!handle || !found || !(found->flags & CU_EVENT_INTERPROCESS))
        return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    fill(handle, (uintptr_t)found);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle) {
    CUDA_ENTER(call, cuda_enter_context());
    return event ? open_handle(&call, "cuIpcOpenEventHandle", &handle) : CUDA_ERROR_INVALID_VALUE;
}

#undef cuIpcOpenMemHandle
CUDA_ALIAS(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2);
