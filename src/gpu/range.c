/* Address ranges that a program lays out itself: reserved first, with memory mapped into them later.
 *
 * Ranges are allocated downwards from below the heap, and are not reused. Kernels and copies treat neighbouring pieces
 * of memory as one allocation, as the program does. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/internal.h"

uint64_t gpu_range_reserve(struct gpu *gpu, uint64_t bytes, uint64_t alignment) {
    struct gpu_memory *memory = &gpu->memory;
    enum { GUARD_BYTES = 4096 };
    uint64_t room = memory->range_base - memory->view.base;
    if (bytes == 0 || bytes > room / 2 || alignment > room / 2)
        return 0;
    uint64_t address = (memory->range_base - GUARD_BYTES - bytes) & ~(alignment - 1);
    const struct exec_allocation *above = gpu_memory_next(memory, address);
    if (address < memory->view.base + room / 4 || (above && above->address < memory->range_base))
        return 0;
    return memory->range_base = address;
}

int gpu_pages_new(struct gpu *gpu, uint64_t bytes) {
    struct gpu_memory *memory = &gpu->memory;
    if (bytes > memory->limit_bytes - memory->used)
        return -1;
    int file = memfd_create("heddle-pages", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
        close(file);
        return -1;
    }
    if (file >= 0) {
        memory->used += bytes;
        memory->n_pages++;
    }
    return file;
}

void gpu_pages_free(struct gpu *gpu, int pages, uint64_t bytes) {
    close(pages);
    gpu->memory.n_pages--;
    gpu->memory.used -= bytes;
}

static bool map(struct gpu *gpu, uint64_t address, uint64_t bytes, int file, uint64_t offset) {
    void *host = (void *)(uintptr_t)(address + (uint64_t)gpu->memory.view.delta);
    int flags = MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED);
    return mmap(host, bytes, PROT_READ | PROT_WRITE, flags, file, (off_t)offset) == host;
}

bool gpu_range_map(struct gpu *gpu, uint64_t address, uint64_t bytes, int pages, uint64_t offset) {
    struct gpu_memory *memory = &gpu->memory;
    const struct exec_allocation *above = gpu_memory_next(memory, address);
    if (address < memory->range_base || gpu_memory_find(memory, address) ||
        (above && above->address - address < bytes) || !map(gpu, address, bytes, pages, offset))
        return false;
    uint64_t first = address, end = address + bytes;
    const struct exec_allocation *below = gpu_memory_find(memory, address - 1);
    if (below && below->address >= memory->range_base) {
        first = below->address;
        gpu_memory_remove(memory, first);
    }
    above = gpu_memory_find(memory, end);
    if (above && above->address == end && end < memory->heap_base) {
        end += above->bytes;
        gpu_memory_remove(memory, address + bytes);
    }
    return gpu_memory_insert(memory, first, end - first);
}

bool gpu_range_unmap(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    struct gpu_memory *memory = &gpu->memory;
    const struct exec_allocation *found = gpu_memory_find(memory, address);
    if (!found || address < memory->range_base || bytes > found->bytes - (address - found->address))
        return false;
    uint64_t first = found->address, end = found->address + found->bytes;
    gpu_memory_remove(memory, first);
    bool is_kept = true;
    if (first < address)
        is_kept = gpu_memory_insert(memory, first, address - first);
    if (address + bytes < end)
        is_kept &= gpu_memory_insert(memory, address + bytes, end - address - bytes);
    return map(gpu, address, bytes, -1, 0) && is_kept;
}
