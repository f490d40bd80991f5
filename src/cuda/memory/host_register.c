/* cuMemHostRegister: makes memory of the program accessible to kernels.
 *
 * Kernels can access only the device's arena. So the pages of the program's memory and the same number of pages of the
 * arena become views of one in-memory file, which takes over the program's data. Each side then sees the other's
 * writes. The program keeps its addresses, and kernels use those from cuMemHostGetDevicePointer. The call takes whole
 * pages, with any other data in them. Other threads must not write to these pages during the call. Unregistering gives
 * the program its own pages again. */
#define _GNU_SOURCE
#include "cuda/internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool map(void *at, size_t bytes, int file, int flags) {
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, file, 0) == at;
}

/* Uses a system call, because the pages hold more than the program named and memory checkers would complain. */
static bool write_pages(int file, const unsigned char *pages, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        long n = syscall(SYS_pwrite64, file, pages + at, bytes - at, (off_t)at);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* Makes `host` and `device` views of one file with the content of `host`. Returns -1 if that fails. */
static int share(unsigned char *host, unsigned char *device, size_t bytes) {
    int file = memfd_create("heddle-registered", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    bool is_shared = write_pages(file, host, bytes) && map(device, bytes, file, MAP_SHARED);
    if (is_shared && map(host, bytes, file, MAP_SHARED))
        return file;
    if (is_shared)
        map(device, bytes, -1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    close(file);
    return -1;
}

/* The program's pages keep the content of the file, which now has no other view. */
void cuda_unregister(struct cuda_state *state, const struct cuda_allocation *allocation) {
    size_t bytes = allocation->bytes;
    map(gpu_host(state->gpu, allocation->address, bytes), bytes, -1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    map(allocation->host, bytes, allocation->file, MAP_PRIVATE);
    close(allocation->file);
}

/* Returns true if all pages are mapped and not on our own stack, which would change during the copy. */
static bool can_be_taken(const unsigned char *first, size_t bytes) {
    const unsigned char here = 0, *stack = &here;
    unsigned char *resident = cuda_allocate(bytes / CUDA_PAGE_BYTES);
    bool is_there = mincore((void *)(uintptr_t)first, bytes, resident) == 0;
    free(resident);
    return is_there && !(stack >= first && stack < first + bytes);
}

CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned flags) {
    CUDA_ENTER(call, cuda_enter_context());
    uintptr_t first = (uintptr_t)memory / CUDA_PAGE_BYTES * CUDA_PAGE_BYTES, end;
    if (!memory || !bytes || flags & ~0xfu || __builtin_add_overflow((uintptr_t)memory, bytes, &end) ||
        end > UINTPTR_MAX - CUDA_PAGE_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    size_t length = (end - first + CUDA_PAGE_BYTES - 1) / CUDA_PAGE_BYTES * CUDA_PAGE_BYTES;
    const struct cuda_entry *entry;
    for (size_t at = 0; (entry = cuda_table_next(&call.state->host_memory, &at));) {
        const struct cuda_allocation *other = entry->value;
        if (first < (uintptr_t)other->host + other->bytes && (uintptr_t)other->host < first + length)
            return cuda_refuse(&call, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                               "cuMemHostRegister: its pages are registered or allocated by CUDA already");
    }
    if (!can_be_taken((const unsigned char *)first, length))
        return cuda_refuse(&call, CUDA_ERROR_INVALID_VALUE,
                           "cuMemHostRegister: the memory is not mapped, or is the stack of the caller");
    uint64_t address = gpu_malloc(call.gpu, length, CUDA_PAGE_BYTES);
    if (!address)
        return CUDA_ERROR_OUT_OF_MEMORY;
    gpu_place_on_host(call.gpu, address, length);
    int file = share((unsigned char *)first, gpu_host(call.gpu, address, length), length);
    if (file < 0) {
        gpu_release(call.gpu, address);
        return cuda_refuse(&call, CUDA_ERROR_OPERATING_SYSTEM, "cuMemHostRegister: the pages cannot be shared");
    }
    struct cuda_allocation *allocation = cuda_allocate(sizeof(*allocation));
    *allocation = (struct cuda_allocation){
        .kind = CUDA_MEMORY_HOST,
        .address = address,
        .bytes = length,
        .host = (unsigned char *)first,
        .flags = flags,
        .id = ++call.state->next_id,
        .context = call.context,
        .registered = memory,
        .file = file,
    };
    cuda_table_put(&call.state->allocations, address, allocation);
    cuda_table_put(&call.state->host_memory, first, allocation);
    call.state->n_registered++;
    cuda_note_memory(call.state);
    return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
    CUDA_ENTER(call, cuda_enter_context());
    uintptr_t first = (uintptr_t)memory / CUDA_PAGE_BYTES * CUDA_PAGE_BYTES;
    struct cuda_allocation *allocation = memory ? cuda_table_get(&call.state->host_memory, first) : NULL;
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    if (!allocation || allocation->registered != memory)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    cuda_free_allocation(call.state, allocation);
    return CUDA_SUCCESS;
}

#undef cuMemHostRegister
CUDA_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);
