/* Memory for what is sized once, at the start or when a launch begins: zeroed, or the program ends. */
#pragma once

#include <stdlib.h>
#include <string.h>

static inline void *base_allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

/* The same, from the beginning of a cache line on. */
static inline void *base_allocate_aligned(size_t bytes) {
    size_t whole = (bytes + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, whole);
    if (!memory)
        abort();
    return memset(memory, 0, whole);
}
