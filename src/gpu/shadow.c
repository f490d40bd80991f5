/* Compares whole pages: the bytes between allocations are zero and never change. */
#include "gpu/shadow.h"

#include <string.h>
#include <sys/mman.h>

bool gpu_shadow_open(struct gpu_shadow *shadow, const struct gpu_memory *memory) {
    shadow->bytes = memory->view.limit - memory->view.base;
    void *copy = mmap(NULL, shadow->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    shadow->copy = copy == MAP_FAILED ? NULL : copy;
    return shadow->copy;
}

void gpu_shadow_close(struct gpu_shadow *shadow) {
    if (shadow->copy)
        munmap(shadow->copy, shadow->bytes);
    shadow->copy = NULL;
}

static uint64_t page_of(uint64_t address) { return address & ~(uint64_t)(GPU_SHADOW_PAGE - 1); }

static unsigned char *host_page(const struct gpu_memory *memory, uint64_t address) {
    return (unsigned char *)(uintptr_t)(address + (uint64_t)memory->view.delta);
}

void gpu_shadow_scan(struct gpu_shadow *shadow, const struct gpu_memory *memory, gpu_shadow_visit *visit, void *user) {
    uint64_t next = 0; /* allocations may share a page */
    for (uint32_t i = 0; i < memory->n_live; i++) {
        uint64_t end = memory->live[i].address + memory->live[i].bytes, first = page_of(memory->live[i].address);
        for (uint64_t at = first > next ? first : next; at < end; at += GPU_SHADOW_PAGE) {
            const unsigned char *page = host_page(memory, at);
            unsigned char *copy = shadow->copy + (at - memory->view.base);
            next = at + GPU_SHADOW_PAGE;
            if (memcmp(page, copy, GPU_SHADOW_PAGE) == 0)
                continue;
            visit(user, at, page);
            memcpy(copy, page, GPU_SHADOW_PAGE);
        }
    }
}

bool gpu_shadow_set(struct gpu_shadow *shadow, const struct gpu_memory *memory, uint64_t address,
                    const unsigned char page[GPU_SHADOW_PAGE]) {
    const struct exec_allocation *next = gpu_memory_next(memory, address);
    bool is_live = gpu_memory_find(memory, address) || (next && next->address - address < GPU_SHADOW_PAGE);
    if (address != page_of(address) || !is_live)
        return false;
    memcpy(host_page(memory, address), page, GPU_SHADOW_PAGE);
    memcpy(shadow->copy + (address - memory->view.base), page, GPU_SHADOW_PAGE);
    return true;
}
