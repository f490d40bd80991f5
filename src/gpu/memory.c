/* Device memory: one reserved range of host memory. Addresses are handed out upwards and reused only after the whole
 * range has been used. Allocations are never adjacent. So a stray access hits no other allocation, and an access to
 * freed memory is recognised. If the host allows it, the range begins at the same address in every run, because a
 * simulated program can see addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/internal.h"

#define ARENA_ADDRESS 0x200000000000ull
#define SMALLEST_ARENA (1ull << 30)
enum { GUARD_BYTES = 256, N_FREED = 4096, PAGE_BYTES = 4096 };

static enum exec_fault_kind explain(void *user, uint64_t address, uint32_t bytes, char *text, size_t size);
static uint64_t device_malloc(void *user, uint64_t bytes);
static bool device_free(void *user, uint64_t address);

/* The address is only a preference: the range lies elsewhere if it is taken, or if a sanitizer needs it. */
static void *reserve(uint64_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *host = mmap((void *)(uintptr_t)ARENA_ADDRESS, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return host == MAP_FAILED ? NULL : host;
}

bool gpu_memory_open(struct gpu_memory *memory, const struct gpu_config *config) {
    *memory = (struct gpu_memory){.limit_bytes = config->memory_bytes, .heap_bytes = config->heap_bytes};
    uint64_t bytes = 8 * (config->memory_bytes + SMALLEST_ARENA);
    void *host = NULL;
    for (; bytes >= SMALLEST_ARENA && !(host = reserve(bytes)); bytes /= 2)
        ;
    memory->freed = calloc(N_FREED, sizeof *memory->freed);
    if (!host || !memory->freed)
        return false;
    struct exec_memory *view = &memory->view;
    view->base = ARENA_ADDRESS;
    view->limit = ARENA_ADDRESS + bytes;
    view->delta = (ptrdiff_t)((uintptr_t)host - (uintptr_t)ARENA_ADDRESS);
    view->explain = explain;
    view->malloc_ = device_malloc;
    view->free_ = device_free;
    memory->next = view->base;
    memory->range_base = memory->heap_base = memory->next_heap =
        view->base + (bytes / 8 * 7 & ~(uint64_t)(PAGE_BYTES - 1));
    return true;
}

void gpu_memory_close(struct gpu_memory *memory) {
    struct exec_memory *view = &memory->view;
    if (view->base)
        munmap((void *)(uintptr_t)(view->base + (uint64_t)view->delta), view->limit - view->base);
    free(memory->live);
    free(memory->freed);
    *memory = (struct gpu_memory){.next = 0};
}

/* Returns the index of the first live allocation at or above address. */
static uint32_t lower_bound(const struct gpu_memory *memory, uint64_t address) {
    uint32_t low = 0, high = memory->n_live;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memory->live[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct exec_allocation *gpu_memory_find(const struct gpu_memory *memory, uint64_t address) {
    uint32_t at = lower_bound(memory, address + 1);
    if (at == 0)
        return NULL;
    const struct exec_allocation *candidate = &memory->live[at - 1];
    return address - candidate->address < candidate->bytes ? candidate : NULL;
}

const struct exec_allocation *gpu_memory_next(const struct gpu_memory *memory, uint64_t address) {
    uint32_t at = lower_bound(memory, address);
    return at < memory->n_live ? &memory->live[at] : NULL;
}

bool gpu_memory_insert(struct gpu_memory *memory, uint64_t address, uint64_t bytes) {
    if (memory->n_live == memory->live_capacity) {
        uint32_t capacity = memory->live_capacity ? 2 * memory->live_capacity : 64;
        struct exec_allocation *larger = realloc(memory->live, capacity * sizeof *larger);
        if (!larger)
            return false;
        memory->live = larger;
        memory->live_capacity = capacity;
    }
    uint32_t at = lower_bound(memory, address);
    memmove(&memory->live[at + 1], &memory->live[at], (memory->n_live - at) * sizeof *memory->live);
    memory->live[at] = (struct exec_allocation){address, bytes};
    memory->n_live++;
    memory->view.allocation = memory->live;
    memory->view.n_allocations = memory->n_live;
    return true;
}

/* Finds a gap of `bytes` in [from, limit), with guards. Returns 0 if there is none. */
static uint64_t find_gap(const struct gpu_memory *memory, uint64_t from, uint64_t limit, uint64_t bytes,
                         uint64_t alignment) {
    uint64_t at = (from + alignment - 1) & ~(alignment - 1);
    for (uint32_t i = lower_bound(memory, from); at + bytes + GUARD_BYTES <= limit; i++) {
        if (i == memory->n_live || memory->live[i].address >= at + bytes + GUARD_BYTES)
            return at;
        uint64_t end = memory->live[i].address + memory->live[i].bytes + GUARD_BYTES;
        if (end > at)
            at = (end + alignment - 1) & ~(alignment - 1);
    }
    return 0;
}

static uint64_t place(struct gpu_memory *memory, uint64_t *next, uint64_t base, uint64_t limit, uint64_t bytes,
                      uint64_t alignment) {
    uint64_t address = find_gap(memory, *next, limit, bytes, alignment);
    if (!address)
        address = find_gap(memory, base, limit, bytes, alignment);
    if (!address || !gpu_memory_insert(memory, address, bytes))
        return 0;
    *next = address + bytes + GUARD_BYTES;
    return address;
}

/* Returns whole pages to the host and zeroes the rest, so that memory is zero when it is handed out again. */
static void scrub(struct gpu_memory *memory, uint64_t address, uint64_t bytes) {
    uint64_t first = (address + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1), end = address + bytes;
    uint64_t last = end & ~(uint64_t)(PAGE_BYTES - 1);
    unsigned char *host = (unsigned char *)(uintptr_t)(address + (uint64_t)memory->view.delta);
    if (first >= last || madvise(host + (first - address), last - first, MADV_DONTNEED)) {
        memset(host, 0, bytes);
        return;
    }
    memset(host, 0, first - address);
    memset(host + (last - address), 0, end - last);
}

uint64_t gpu_memory_alloc(struct gpu_memory *memory, uint64_t bytes, uint64_t alignment) {
    if (bytes == 0 || bytes > memory->limit_bytes - memory->used)
        return 0;
    if (alignment < GUARD_BYTES)
        alignment = GUARD_BYTES;
    uint64_t address = place(memory, &memory->next, memory->view.base, memory->range_base, bytes, alignment);
    if (address)
        memory->used += bytes;
    if (address && memory->has_strays)
        scrub(memory, address, bytes);
    return address;
}

bool gpu_memory_remove(struct gpu_memory *memory, uint64_t address) {
    uint32_t at = lower_bound(memory, address);
    if (at == memory->n_live || memory->live[at].address != address)
        return false;
    memmove(&memory->live[at], &memory->live[at + 1], (memory->n_live - at - 1) * sizeof *memory->live);
    memory->view.n_allocations = --memory->n_live;
    return true;
}

static bool remove_live(struct gpu_memory *memory, uint64_t address, uint64_t *bytes) {
    const struct exec_allocation *found = gpu_memory_next(memory, address);
    if (!found || found->address != address)
        return false;
    *bytes = found->bytes;
    memory->freed[memory->n_freed++ % N_FREED] = *found;
    gpu_memory_remove(memory, address);
    scrub(memory, address, *bytes);
    return true;
}

bool gpu_memory_release(struct gpu_memory *memory, uint64_t address) {
    uint64_t bytes;
    if (address >= memory->range_base || !remove_live(memory, address, &bytes))
        return false;
    memory->used -= bytes;
    return true;
}

uint64_t gpu_heap_alloc(struct gpu_memory *memory, uint64_t bytes) {
    if (bytes == 0 || bytes > memory->heap_bytes - memory->heap_used)
        return 0;
    uint64_t address = place(memory, &memory->next_heap, memory->heap_base, memory->view.limit, bytes, 16);
    if (address)
        memory->heap_used += bytes;
    return address;
}

bool gpu_heap_release(struct gpu_memory *memory, uint64_t address) {
    uint64_t bytes;
    if (address < memory->heap_base || !remove_live(memory, address, &bytes))
        return false;
    memory->heap_used -= bytes;
    return true;
}

static uint64_t device_malloc(void *user, uint64_t bytes) {
    uint64_t address = gpu_heap_alloc(&((struct gpu *)user)->memory, bytes);
    if (address)
        gpu_note_unwritten(user, address, bytes);
    return address;
}

static bool device_free(void *user, uint64_t address) {
    gpu_note_freed(user, address);
    return gpu_heap_release(&((struct gpu *)user)->memory, address);
}

/* Describes the memory at or near a bad address. */
static enum exec_fault_kind explain(void *user, uint64_t address, uint32_t bytes, char *text, size_t size) {
    const struct gpu_memory *memory = &((struct gpu *)user)->memory;
    if (address < PAGE_BYTES) {
        snprintf(text, size, "a null pointer%s", address ? " plus an offset" : "");
        return EXEC_FAULT_ILLEGAL_ADDRESS;
    }
    uint32_t n_kept = memory->n_freed < N_FREED ? memory->n_freed : N_FREED;
    for (uint32_t i = 1; i <= n_kept; i++) {
        const struct exec_allocation *old = &memory->freed[(memory->n_freed - i) % N_FREED];
        if (address - old->address < old->bytes) {
            snprintf(text, size,
                     "use after free: %" PRIu64 " bytes into the freed %" PRIu64 "-byte allocation at 0x%" PRIx64,
                     address - old->address, old->bytes, old->address);
            return EXEC_FAULT_USE_AFTER_FREE;
        }
    }
    uint32_t at = lower_bound(memory, address + 1);
    const struct exec_allocation *below = at ? &memory->live[at - 1] : NULL,
                                 *above = at < memory->n_live ? &memory->live[at] : NULL;
    uint64_t past = below ? address + bytes - (below->address + below->bytes) : UINT64_MAX;
    uint64_t before = above ? above->address - address : UINT64_MAX;
    if (below && past <= before)
        snprintf(text, size, "out of bounds: ends %" PRIu64 " bytes past the %" PRIu64 "-byte allocation at 0x%" PRIx64,
                 past, below->bytes, below->address);
    else if (above)
        snprintf(text, size, "out of bounds: %" PRIu64 " bytes before the %" PRIu64 "-byte allocation at 0x%" PRIx64,
                 before, above->bytes, above->address);
    else
        snprintf(text, size, "nothing is allocated on the device");
    return EXEC_FAULT_ILLEGAL_ADDRESS;
}
