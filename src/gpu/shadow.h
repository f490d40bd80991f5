/* A copy of device memory, to find the pages that have changed since it was last updated. */
#pragma once

#include "gpu/internal.h"

enum { GPU_SHADOW_PAGE = 4096 };

struct gpu_shadow {
    unsigned char *copy; /* of the whole range of device memory; untouched pages cost nothing */
    uint64_t bytes;
};

bool gpu_shadow_open(struct gpu_shadow *shadow, const struct gpu_memory *memory);
void gpu_shadow_close(struct gpu_shadow *shadow);

typedef void gpu_shadow_visit(void *user, uint64_t address, const unsigned char *page);
/* Calls visit() for each page of live allocations that differs from the copy, upwards, and updates the copy. */
void gpu_shadow_scan(struct gpu_shadow *shadow, const struct gpu_memory *memory, gpu_shadow_visit *visit, void *user);
/* Sets a page of memory and of the copy. Returns false if the address is not that of a page of live allocations. */
bool gpu_shadow_set(struct gpu_shadow *shadow, const struct gpu_memory *memory, uint64_t address,
                    const unsigned char page[GPU_SHADOW_PAGE]);
